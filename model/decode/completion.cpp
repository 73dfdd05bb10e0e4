// Completion: which positions are known, which are drawn, and in which rows; batch.cpp does the
// steps. Known tokens before the first unknown one are evaluated once for all samples; later ones,
// and what a continued sample has filled in before, go through in blocks.
#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "core/clock.h"
#include "core/rng.h"
#include "model/decode/batch.h"

namespace aft {

namespace {

using decode::Given;
using decode::SampleBatch;
using decode::SampleRow;

constexpr uint64_t kResampleStream = uint64_t{1} << 62, kDrawStream = uint64_t{1} << 61;

constexpr const char* kNoAlphabet =
    " and not which characters these are: afterimage import FILE --alphabet TEXT says it";

void check_request(const Net& net, const CompletionRequest& request, const Completion* continued) {
    const ModelConfig& model = net.config();
    const SampleOptions& s = request.sample;
    const TaskTraits& task = task_traits(model);
    if (task.is_bias_alone) fail_usage("there are position biases alone: they cannot complete");
    if (task.is_mixer_alone) fail_usage("this model is a mixer alone: it cannot complete");
    if (!task.is_autoregressive) fail_usage("this model classifies pictures: it cannot complete");
    const size_t total = request.unknown.size();
    if (request.tokens.size() != total)
        fail_usage("completion: {} tokens but a mask of {}", request.tokens.size(), total);
    if (total < 1 || (!task.is_text() && total != static_cast<size_t>(model.tokens())))
        fail_usage("completion: {} tokens; this model has {}", total, model.tokens());
    for (size_t i = 0; i < total; ++i)
        if (!request.unknown[i] && request.tokens[i] >= model.levels)
            fail_usage("completion: value {} at position {}; this model knows 0 to {}{}",
                       request.tokens[i], i, model.levels - 1, task.is_text() ? kNoAlphabet : "");
    if (s.samples < 1 || s.samples > 1024)
        fail_usage("samples: found {}, allowed: 1 to 1024", s.samples);
    if (s.particles < 1 || s.particles > 256)
        fail_usage("particles: found {}, allowed: 1 to 256", s.particles);
    if (!(s.temperature >= 0) || !std::isfinite(s.temperature))
        fail_usage("temperature: found {}, allowed: 0 (greedy) and more", s.temperature);
    if (s.top_k < 0) fail_usage("top-k: found {}, allowed: 0 (off) and more", s.top_k);
    if (!(s.top_p > 0 && s.top_p <= 1))
        fail_usage("top-p: found {}, allowed: above 0, up to 1", s.top_p);
    if (request.from_position < 0) return;
    if (!continued || continued->samples.empty() || continued->samples[0].size() != total)
        fail_usage("there is no completion of {} tokens to continue from", total);
    if (request.from_position >= static_cast<int64_t>(total))
        fail_usage("position {} is not there; allowed: 0 to {}", request.from_position, total - 1);
    if (request.from_sample >= static_cast<int64_t>(continued->samples.size()))
        fail_usage("sample {} is not there; allowed: 0 to {}", request.from_sample,
                   continued->samples.size() - 1);
    if (request.forced >= model.levels)
        fail_usage("value {} is not there; allowed: 0 to {}", request.forced, model.levels - 1);
}

// Sets LibTorch to one thread for a scope: eight rows of a token are too little work for more, and
// the result then does not depend on the machine.
class OneThread {
  public:
    OneThread() : before_(at::get_num_threads()) { at::set_num_threads(1); }
    ~OneThread() { at::set_num_threads(before_); }
    OneThread(const OneThread&) = delete;
    OneThread& operator=(const OneThread&) = delete;

  private:
    int before_;
};

class CompletionRun {
  public:
    CompletionRun(decode::Decoder& decoder, const CompletionRequest& request,
                  const CompletionHooks& hooks, int64_t length)
        : decoder_(decoder), request_(request), hooks_(hooks), continued_(hooks.continued) {
        const auto first = std::find_if(request.unknown.begin(), request.unknown.end(),
                                        [](uint8_t u) { return u != 0; });
        first_ = first - request.unknown.begin();
        const auto total = static_cast<int64_t>(request.unknown.size());
        for (end_ = total; end_ > 0 && !request.unknown[static_cast<size_t>(end_ - 1)];) --end_;
        if (filtered()) end_ = first_ < total ? total : end_;
        window_ = {std::max<int64_t>(0, first_ - (length - 1)), length};
        prepare_result();
    }

    Completion finish(const JobControl& control) {
        const auto start = std::chrono::steady_clock::now();
        auto last = start;
        try {
            if (first_ < end_) open_batches(control);
            for (int64_t at = first_; at < end_ && !result_.stopped;) {
                at = advance(at);
                result_.position = at;
                result_.stopped = control.stop.stop_requested() && at < end_;
                control.report({at - first_, end_ - first_, "tokens"});
                if (seconds_since(last) * 1000 >= hooks_.publish_ms && at < end_) {
                    collect(false);
                    result_.seconds = seconds_since(start);
                    hooks_.publish(result_);
                    last = std::chrono::steady_clock::now();
                }
                hooks_.between_tokens();
            }
        } catch (const Interrupted&) {
            result_.stopped = true;
        }
        collect(!result_.stopped);
        result_.done = true;
        if (!result_.stopped) result_.position = result_.total;
        result_.seconds = seconds_since(start);
        hooks_.publish(result_);
        return result_;
    }

  private:
    [[nodiscard]] bool filtered() const { return request_.sample.particles > 1; }
    [[nodiscard]] bool continues(int64_t sample) const {
        return request_.from_position >= 0 &&
               (request_.from_sample < 0 || request_.from_sample == sample);
    }

    void prepare_result() {
        const SampleOptions& s = request_.sample;
        // Continuing one sample leaves the others as they are.
        const bool others = request_.from_position >= 0;
        const size_t n = others ? continued_->samples.size() : static_cast<size_t>(s.samples);
        const size_t total = request_.unknown.size();
        const std::vector<float> none(total, std::nanf(""));
        result_.total = static_cast<int64_t>(total);
        result_.position = first_;
        result_.unknown = request_.unknown;
        result_.samples.assign(n, request_.tokens);
        result_.log_likelihood.assign(n, 0);
        result_.surprise.assign(n, none);
        result_.entropy.assign(n, none);
        for (size_t i = 0; others && i < n; ++i) {
            if (continues(static_cast<int64_t>(i))) continue;
            result_.samples[i] = continued_->samples[i];
            result_.log_likelihood[i] = continued_->log_likelihood[i];
            result_.surprise[i] = continued_->surprise[i];
            result_.entropy[i] = continued_->entropy[i];
        }
    }

    [[nodiscard]] bool active(int64_t sample) const {
        return sample < static_cast<int64_t>(result_.samples.size()) &&
               (request_.from_position < 0 || continues(sample));
    }

    // Of all samples, of which these may be a part: what its random numbers are keyed by.
    [[nodiscard]] uint64_t number_of(int64_t sample) const {
        return static_cast<uint64_t>(hooks_.first_sample + sample);
    }

    [[nodiscard]] SampleRow make_row(uint64_t stream, bool padding) const {
        SampleRow row;
        row.tokens = request_.tokens;
        row.surprise.assign(row.tokens.size(), std::nanf(""));
        row.entropy = row.surprise;
        row.stream = stream;
        row.padding = padding;
        return row;
    }

    // Samples that share the weights of a step; more of them are not faster.
    [[nodiscard]] int64_t group_width() const {
        constexpr int64_t kWidest = 64;
        return decoder_.group() > 0 ? decoder_.group() : kWidest;
    }

    void open_batches(const JobControl& control) {
        const auto prefix =
            decode::prefix_state(decoder_, request_.tokens, {window_.begin, first_}, control);
        const auto n = static_cast<int64_t>(result_.samples.size());
        const int64_t width = filtered() ? 1 : group_width();
        for (int64_t base = 0; base < n; base += width) {
            std::vector<SampleRow> rows;
            std::vector<int64_t> owners;
            bool any = false;
            for (int64_t i = 0; i < (filtered() ? request_.sample.particles : width); ++i) {
                const int64_t sample = filtered() ? base : base + i;
                if (decoder_.group() == 0 && !active(sample)) continue;
                const auto particle = static_cast<uint64_t>(filtered() ? i : 0);
                rows.push_back(make_row(number_of(sample) | particle << 32, !active(sample)));
                owners.push_back(sample);
                any = any || active(sample);
            }
            if (!any) continue;
            batches_.emplace_back(decoder_, *prefix, std::move(rows), window_);
            owners_.push_back(std::move(owners));
        }
    }

    [[nodiscard]] Given given(int64_t sample, int64_t at) const {
        const auto place = static_cast<size_t>(at);
        if (!request_.unknown[place]) return {request_.tokens[place], false, filtered()};
        if (!active(sample)) return {0, false, false};
        if (continues(sample) && at < request_.from_position)
            return {continued_->samples[static_cast<size_t>(sample)][place], true, false};
        if (continues(sample) && at == request_.from_position)
            return {request_.forced, true, false};
        return {-1, true, false};
    }

    [[nodiscard]] std::vector<Given> given_to(size_t batch, int64_t at) const {
        std::vector<Given> given_tokens;
        for (const int64_t sample : owners_[batch]) given_tokens.push_back(given(sample, at));
        return given_tokens;
    }

    // Every row's token is known there and no particle weight depends on it.
    [[nodiscard]] bool is_settled(int64_t at) const {
        return request_.unknown[static_cast<size_t>(at)] ? at < request_.from_position
                                                         : !filtered();
    }
    // End of the prefill block that begins at `at`. Cancellation is checked between blocks, so they
    // are shorter with many rows (which share the weights anyway).
    [[nodiscard]] int64_t settled_until(int64_t at) const {
        constexpr int64_t kMostTokens = 32;
        size_t rows = 1;
        for (const auto& owners : owners_) rows = std::max(rows, owners.size());
        // A group has no blocks.
        const int64_t most =
            decoder_.group() > 0
                ? 1
                : std::clamp<int64_t>(decode::kMostFed / static_cast<int64_t>(rows), 1,
                                      kMostTokens);
        const int64_t stop = std::min(end_, (at / most + 1) * most);
        while (at < stop && is_settled(at)) ++at;
        return at;
    }

    // Processes position `at` (sampling) or a block of known positions (prefill). -> the next one.
    int64_t advance(int64_t at) {
        const int64_t settled = settled_until(at);
        if (settled <= at + 1) {
            step(at);
            return at + 1;
        }
        for (size_t b = 0; b < batches_.size(); ++b) {
            std::vector<std::vector<Given>> given_tokens;
            for (int64_t i = at; i < settled; ++i) given_tokens.push_back(given_to(b, i));
            batches_[b].follow(at, given_tokens);
        }
        return settled;
    }

    void step(int64_t at) {
        for (size_t b = 0; b < batches_.size(); ++b) {
            const std::vector<Given> given_tokens = given_to(b, at);
            batches_[b].advance(at, given_tokens, request_.sample);
            if (given_tokens[0].weighs)
                batches_[b].resample(uniform(request_.sample.seed,
                                             kResampleStream + number_of(owners_[b][0]),
                                             static_cast<uint64_t>(at)));
        }
    }

    // Rows -> result. final: particles are drawn by weight, before that the heaviest is shown.
    void collect(bool final) {
        for (size_t b = 0; b < batches_.size(); ++b) {
            if (filtered()) {
                const double u =
                    uniform(request_.sample.seed, kDrawStream + number_of(owners_[b][0]), 0);
                show(owners_[b][0], final ? batches_[b].drawn(u) : batches_[b].heaviest());
                continue;
            }
            for (size_t i = 0; i < owners_[b].size(); ++i)
                if (active(owners_[b][i])) show(owners_[b][i], batches_[b].rows()[i]);
        }
    }

    void show(int64_t sample, const SampleRow& row) {
        const auto i = static_cast<size_t>(sample);
        result_.samples[i] = row.tokens;
        result_.log_likelihood[i] = row.log_likelihood;
        result_.surprise[i] = row.surprise;
        result_.entropy[i] = row.entropy;
    }

    decode::Decoder& decoder_;
    const CompletionRequest& request_;
    const CompletionHooks& hooks_;
    const Completion* continued_;
    Completion result_;
    std::vector<SampleBatch> batches_;
    std::vector<std::vector<int64_t>> owners_;  // sample of each row of a batch
    int64_t first_ = 0, end_ = 0;               // first unknown, one past the last
    decode::ContextWindow window_;
};

}  // namespace

Completion run_completion(const Net& net, const CompletionRequest& request,
                          const CompletionHooks& hooks, const JobControl& control) {
    const at::NoGradGuard no_grad;
    check_request(net, request, hooks.continued);
    decode::KeptDecoder own;
    decode::Decoder& decoder =
        (hooks.kept ? *hooks.kept : own)
            .of(net,
                {.weights = decode::parse_weight_format(request.sample.weights),
                 .threads = at::get_num_threads()},
                hooks.version);
    const OneThread one_thread;
    return CompletionRun(decoder, request, hooks, net.config().tokens()).finish(control);
}

double log_likelihood(const Net& net, const std::vector<uint8_t>& tokens,
                      const std::vector<uint8_t>& counted) {
    const at::NoGradGuard no_grad;
    if (tokens.empty() || tokens.size() != counted.size())
        fail_usage("log-likelihood: {} tokens but a mask of {}", tokens.size(), counted.size());
    const std::vector<int64_t> wide(tokens.begin(), tokens.end());
    const at::Device device = net.parameters().front().value.device();
    const at::Tensor input = at::tensor(wide, at::kLong).unsqueeze(0);
    const at::Tensor logits = net.forward(input.to(device), Pass{});
    const at::Tensor logp = at::log_softmax(logits[0].to(at::kCPU, at::kDouble), 1);
    const at::Tensor own = logp.gather(1, input[0].unsqueeze(1)).squeeze(1);
    const std::vector<double> weight(counted.begin(), counted.end());
    const at::Tensor mask = at::tensor(weight, at::kDouble) != 0;
    return own.masked_select(mask).sum().item<double>();
}

}  // namespace aft
