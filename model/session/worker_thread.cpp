// The worker thread: probes, pictures and completions on its own copies of the weights. Requests
// fail one by one; their words become the answer. Between the tokens of a completion it first
// serves waiting probes.
#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <utility>

#include "core/system/omp_team.h"
#include "model/checkpoints/naming.h"
#include "model/data/loader.h"
#include "model/data/source.h"
#include "model/decode/decode.h"
#include "model/decode/decoder.h"
#include "model/decode/input.h"
#include "model/decode/picture.h"
#include "model/device.h"
#include "model/probe/probe.h"
#include "model/session/channels.h"
#include "model/session/weight_store.h"

namespace aft::session {

namespace {

class Worker {
  public:
    Worker(SessionChannels& channels, const std::string& device, std::stop_token stop)
        : channels_(channels), stop_(std::move(stop)), weights_(channels, device) {}

    void run() {
        while (!stop_.stop_requested()) {
            wait();
            use_idle_threads();
            serve_items();
            auto order = channels_.slots.next_completion();
            if (!order) {
                serve_probes();
                continue;
            }
            complete(*order);
            channels_.slots.end_completion();
            channels_.wake();
        }
    }

  private:
    // A moving pointer sends the next request at once: the team of threads is kept for a moment.
    void wait() {
        if (channels_.slots.wait(stop_, Clock::now() + std::chrono::milliseconds(200))) return;
        release_omp_team();
        channels_.slots.wait(stop_, std::nullopt);
    }

    void serve_items() {
        while (!stop_.stop_requested()) {
            const auto item = channels_.slots.next_item();
            if (!item) break;
            // Asked for again while it was being loaded: it is there now. So with answers below.
            if (!channels_.items.find(*item)) load(*item);
        }
    }

    // What waits now, once: a completion continues even while a pointer keeps moving. Beside one
    // only what somebody still looks at.
    void serve_probes(bool beside_completion = false) {
        for (int most = 0; most < 64 && !stop_.stop_requested(); ++most) {
            if (!beside_completion && channels_.slots.is_completing()) return;
            auto order = channels_.slots.next_probe(/*still_asked=*/beside_completion);
            if (!order) return;
            const auto cached = channels_.cache.find(order->request);
            if (!cached || !channels_.holds(order->request, *cached)) answer(*order);
        }
    }

    // One thread beside a running training, all when nothing trains.
    void use_idle_threads() {
        const auto status = channels_.status.latest();
        const bool training = status->state == RunState::running && !status->following;
        const int wanted = training ? 1 : channels_.all_threads;
        if (wanted == threads_) return;
        release_omp_team();
        use_threads(threads_ = wanted);
    }

    void answer(ProbeOrder& order) {
        const ProbeRequest& request = order.request;
        const std::stop_callback closing(stop_, [&order] { order.stop.request_stop(); });
        ProbeAnswer out;
        const auto snapshot = channels_.snapshot.latest();
        out.stamp = snapshot ? snapshot->stamp : 0;
        if (const auto stored = channels_.stored_steps.latest(); stored && !stored->saved.empty())
            out.newest_saved = stored->saved.back();
        try {
            AFT_CHECK(snapshot != nullptr, "no model is open yet");
            const Weights weights = weights_.at(request, snapshot);
            JobControl control;
            control.stop = order.stop.get_token();
            const ProbeContext context{*weights.net, weights.step, control, *weights.kept};
            out.fields = std::make_shared<const FieldSet>(run_probe(context, request));
        } catch (const Interrupted&) {
            return channels_.wake();  // it was cancelled, or the session is closing
        } catch (const std::exception& error) {
            out.error = plain_words(error);
        }
        channels_.cache.put(request, std::move(out));
        channels_.wake();
    }

    void load(const ItemKey& key) {
        ItemCache::CachedItem entry;
        const uint64_t begun = channels_.items.generation();
        try {
            const auto snapshot = channels_.snapshot.latest();
            if (!snapshot) return;  // asked again when a model is there
            Config config = snapshot->checkpoint->config;
            const std::string now = channels_.status.latest()->config.data.source;
            if (!now.empty()) config.data.source = now;  // it may have moved
            if (key.split == "file")
                entry.item = load_file(key.path, config.model);
            else
                load_example(
                    key, config, entry,
                    {.alphabet = alphabet_of(*snapshot->checkpoint), .ignores_labels = true});
        } catch (const std::exception& error) {
            entry.error.words = plain_words(error);
        }
        const std::string error = entry.error.words;
        channels_.items.put(key, std::move(entry), begun);
        // What has been read after all is no news for longer.
        if (!error.empty() || has_said_) say(error);
        has_said_ = !error.empty();
        channels_.wake();
    }

    static std::shared_ptr<const DataItem> load_file(const std::string& path,
                                                     const ModelConfig& model) {
        if (task_traits(model).is_text()) fail_usage("{}: a text model takes no picture", path);
        auto item = std::make_shared<DataItem>();
        FittedPicture picture = fit_picture(read_image(path), model);
        item->tokens = std::move(picture.tokens);
        item->changes = std::move(picture.changes);
        item->caption = std::filesystem::path(path).filename().string();
        return item;
    }

    void load_example(const ItemKey& key, const Config& config, ItemCache::CachedItem& entry,
                      const KnownData& known) {
        if (!source_ || source_spec_ != config.data.source) {
            if (config.data.source.empty()) fail("no data are known for this model");
            source_ = open_for_model(parse_spec(config.data.source, stop_),
                                     static_cast<uint64_t>(config.train.seed), config.model, known);
            source_spec_ = config.data.source;
        }
        const Split split = key.split.empty() ? usual_split(*source_) : parse_split(key.split);
        const int64_t size = source_->size(split);
        if (size == 0) {
            const std::string short_text = why_too_short(*source_, split);
            entry.error = {
                fmt::format("data '{}' {}", source_spec_,
                            short_text.empty() ? fmt::format("has no {} part", split_name(split))
                                               : short_text),
                /*is_part_empty=*/true};
            return;
        }
        const int64_t index = ((key.index % size) + size) % size;
        Example example = source_->example(split, index);
        auto item = std::make_shared<DataItem>();
        item->tokens = std::move(example.values);
        item->label = example.label;
        item->split = split_name(split);
        item->part_size = size;
        item->caption = fmt::format("{} {}", item->split, index);
        const auto& names = source_->info().class_names;
        if (example.label >= 0 && example.label < static_cast<int64_t>(names.size()))
            item->caption += ", " + names[static_cast<size_t>(example.label)];
        entry.item = std::move(item);
    }

    void complete(CompletionOrder& order) {
        Completion failed;
        failed.id = order.id;
        failed.unknown = order.request.unknown;
        failed.total = static_cast<int64_t>(order.request.unknown.size());
        failed.done = true;
        try {
            const auto snapshot = channels_.snapshot.latest();
            AFT_CHECK(snapshot != nullptr, "no model is open yet");
            const Weights weights = weights_.own_at(order.request, snapshot);
            const Completion continued = order.request.continued ? *order.request.continued : last_;
            CompletionHooks hooks;
            hooks.continued = &continued;
            hooks.kept = &decoder_;
            hooks.version = weights.version;
            const auto named = [&](Completion done) {
                done.id = order.id;
                done.step = weights.step;
                return done;
            };
            hooks.publish = [&](const Completion& now) {
                last_ = named(now);
                channels_.completion.publish(std::make_shared<const Completion>(last_));
                channels_.wake();
            };
            bool has_team = true;  // weights are packed by all threads, tokens need no team
            hooks.between_tokens = [&] {
                if (std::exchange(has_team, false)) release_omp_team();
                use_idle_threads();
                serve_items();
                serve_probes(/*beside_completion=*/true);
            };
            JobControl control;
            control.stop = order.stop.get_token();
            naming_model(snapshot->checkpoint->path, [&] {
                static_cast<void>(run_completion(*weights.net, order.request, hooks, control));
            });
        } catch (const std::exception& error) {
            failed.error = plain_words(error);
            channels_.completion.publish(std::make_shared<const Completion>(failed));
            channels_.wake();
        }
    }

    void say(const std::string& text) {
        channels_.worker_message.publish(
            std::make_shared<const Message>(Message{text, Clock::now()}));
    }

    bool has_said_ = false;  // that the newest item could not be read
    SessionChannels& channels_;
    std::stop_token stop_;
    WeightStore weights_;
    decode::KeptDecoder decoder_;  // of weights_' copy for completions
    std::unique_ptr<DataSource> source_;
    std::string source_spec_;
    Completion last_;  // to continue from
    int threads_ = 0;
};

}  // namespace

void run_worker(const std::stop_token& stop, SessionChannels& channels, const std::string& device) {
    const at::NoGradGuard no_grad;
    Worker(channels, device, stop).run();
}

}  // namespace aft::session
