#include "model/jobs/complete.h"
#include <algorithm>
#include <cmath>

#include "core/caught.h"
#include "core/files.h"
#include "core/images/image.h"
#include "core/json.h"
#include "model/checkpoints/naming.h"
#include "model/decode/decode.h"
#include "model/decode/decoder.h"
#include "model/decode/input.h"
#include "model/decode/picture.h"
#include "model/device.h"
#include "model/interventions/recipe_file.h"
#include "model/jobs/complete_grid.h"
#include "model/jobs/complete_parts.h"

namespace aft {

namespace {

struct Task {
    std::string path;  // of the checkpoint
    ModelConfig model;
    CompletionRequest request;
    std::string note;
    std::optional<ChangedValue> change{};
    bool known_original = false;  // the picture behind the mask is there to compare with
};

std::vector<uint8_t> unknown_of(const CompleteRequest& job, const ModelConfig& model) {
    if (!job.mask.empty()) {
        std::vector<uint8_t> unknown = mask_of(read_image(job.mask), model, job.mask);
        if (std::find(unknown.begin(), unknown.end(), uint8_t{1}) == unknown.end())
            fail_usage("mask {}: it is all zero, nothing is to be filled", job.mask);
        return unknown;
    }
    if (job.keep_rows < 0 || job.keep_rows >= model.height)
        fail_usage("--keep-rows: found {}, allowed: 0 to {}", job.keep_rows, model.height - 1);
    std::vector<uint8_t> unknown(static_cast<size_t>(model.height * model.width * model.channels),
                                 1);
    std::fill_n(unknown.begin(), job.keep_rows * model.width * model.channels, uint8_t{0});
    return unknown;
}

void check_takes_pictures(const CompleteRequest& job, const ModelConfig& model) {
    if (const TaskTraits& kind = task_traits(model); !kind.is_autoregressive || kind.is_text())
        fail_usage("{}: holds a model for task '{}', which completes no picture{}", job.model,
                   model.task, kind.is_text() ? "; --prompt TEXT continues a text" : "");
}

Task picture_task(const CompleteRequest& job, const Checkpoint& checkpoint,
                  const InputTokens& input) {
    const ModelConfig& model = checkpoint.config.model;
    Task task;
    task.path = checkpoint.path;
    task.model = model;
    task.request.sample = job.sample;
    task.change = job.change;
    task.request.tokens = input.tokens;
    task.request.unknown = unknown_of(job, model);
    task.note = input.note;
    task.known_original = true;
    return task;
}

Task text_task(const CompleteRequest& job, const Checkpoint& checkpoint) {
    const ModelConfig& model = checkpoint.config.model;
    if (!task_traits(model).is_text())
        fail_usage("{}: holds a model for task '{}', which takes no prompt", job.model, model.task);
    if (job.length < 1 || job.length > (1 << 20))
        fail_usage("--length: found {}, allowed: 1 to {}", job.length, 1 << 20);
    Task task;
    task.path = checkpoint.path;
    task.model = model;
    task.request.sample = job.sample;
    task.change = job.change;
    task.request.tokens = text_tokens(*job.prompt, alphabet_of(checkpoint));
    const auto most = static_cast<size_t>(std::max<int64_t>(model.tokens() - 1, 0));
    if (task.request.tokens.size() > most) {
        task.note = fmt::format("the prompt has {} bytes; its last {} are used",
                                task.request.tokens.size(), most);
        task.request.tokens.erase(task.request.tokens.begin(),
                                  task.request.tokens.end() - static_cast<ptrdiff_t>(most));
    }
    task.request.unknown.assign(task.request.tokens.size(), 0);
    task.request.unknown.resize(task.request.tokens.size() + static_cast<size_t>(job.length), 1);
    task.request.tokens.resize(task.request.unknown.size(), 0);
    return task;
}

bool is_png(const std::string& path) {
    return fs::path(path).extension() == ".png";
}

CompleteResult describe(const CompleteRequest& job, const Task& task, const Completion& done) {
    CompleteResult result;
    result.model = job.model;
    result.step = done.step;
    result.sample = job.sample;
    result.note = task.note;
    result.tokens = done.total;
    result.filled = std::count(task.request.unknown.begin(), task.request.unknown.end(), 1);
    result.seconds = done.seconds;
    for (const double nats : done.log_likelihood) {
        CompletedSample sample;
        sample.log_likelihood_nats = nats;
        sample.bits_per_filled = -nats / std::log(2.0) / static_cast<double>(result.filled);
        result.samples.push_back(std::move(sample));
    }
    AFT_ASSERT(result.samples.size() == done.samples.size());
    return result;
}

void write_pictures(const CompleteRequest& job, const Task& task, const Completion& done,
                    CompleteResult& result) {
    const ModelConfig& model = task.model;
    if (is_png(job.out)) {
        write_png(job.out, tokens_picture(done.samples[0], model));
        result.samples[0].file = job.out;
        return;
    }
    make_folder(job.out);
    for (size_t i = 0; i < done.samples.size(); ++i) {
        const std::string path = (fs::path(job.out) / fmt::format("sample-{}.png", i)).string();
        write_png(path, tokens_picture(done.samples[i], model));
        result.samples[i].file = path;
    }
    result.grid = (fs::path(job.out) / "grid.png").string();
    std::vector<Image> tiles{masked_tile(task.request, model)};
    for (const auto& sample : done.samples) tiles.push_back(tokens_picture(sample, model));
    write_png(result.grid, tile_grid(tiles, columns_for(static_cast<int64_t>(tiles.size()))));
}

// Text need not be UTF-8: what is not becomes U+FFFD, as JSON writes it.
std::string valid_utf8(const std::string& text) {
    const std::string quoted = json_text(nlohmann::json(text));
    return parse_json(quoted, {.file = "a completed text"}).get<std::string>();
}

void write_texts(const CompleteRequest& job, const Checkpoint& checkpoint, const Completion& done,
                 CompleteResult& result) {
    std::string all;
    for (size_t i = 0; i < done.samples.size(); ++i) {
        const std::string text = tokens_text(done.samples[i], alphabet_of(checkpoint));
        result.samples[i].text = valid_utf8(text);
        all += text + "\n";
        if (i + 1 < done.samples.size()) all += "\n";
    }
    if (job.out.empty()) return;
    write_atomically(fs::path(job.out), all);
    result.file = job.out;
}

// What reduced weights cost in bits per token: on the picture as it is, or on the first text.
double cost_of_weights(const Net& net, const Task& task, const Completion& done) {
    std::vector<uint8_t> tokens = task.known_original ? task.request.tokens : done.samples[0];
    tokens.resize(std::min(tokens.size(), static_cast<size_t>(task.model.tokens())));
    const auto nats = [&](const std::string& weights) {
        const auto decoder = decode::make_decoder(
            net, {.weights = decode::parse_weight_format(weights), .threads = 1});
        return decode::sequence_likelihood(*decoder, tokens);
    };
    const double lost = nats("fp32") - nats(task.request.sample.weights);
    return lost / std::log(2.0) / static_cast<double>(tokens.size());
}

void check_out(const CompleteRequest& job) {
    if (job.prompt) return;
    if (job.out.empty()) fail_usage("-o: a folder, or a name ending in .png, is needed");
    if (is_png(job.out) && job.sample.samples != 1)
        fail_usage("-o {}: one .png holds one sample, found --samples {}; give a folder", job.out,
                   job.sample.samples);
}

// The folders of a path that are not there yet, the deepest first. Those that are made and stay
// empty are gone at the end.
struct NewFolders {
    explicit NewFolders(const fs::path& path) {
        std::error_code ignored;
        for (fs::path at = fs::absolute(path); !fs::exists(fs::symlink_status(at, ignored));
             at = at.parent_path())
            missing.push_back(at);
    }
    ~NewFolders() {
        std::error_code ignored;
        for (const fs::path& folder : missing) fs::remove(folder, ignored);
    }
    NewFolders(const NewFolders&) = delete;
    NewFolders& operator=(const NewFolders&) = delete;
    std::vector<fs::path> missing;
};

// Before the work: that the results can be written where they are wanted. Leaves nothing there.
void check_place(const CompleteRequest& job) {
    if (job.out.empty()) return;
    if (job.prompt || is_png(job.out)) return check_writable(job.out);
    const NewFolders tried(job.out);
    make_folder(job.out);
    check_writable(fs::path(job.out) / "result.json");
}

// What this process draws, and then all.
Completion complete_part(const CompleteRequest& job, Task task, const Net& net,
                         const JobControl& control) {
    const CompletionPart part = part_of_samples(job.sample.samples, job.ranks);
    Completion done;
    if (part.count > 0) {
        CompletionHooks hooks;
        hooks.first_sample = part.first;
        task.request.sample.samples = part.count;
        done = naming_model(task.path,
                            [&] { return run_completion(net, task.request, hooks, control); });
    }
    if (done.stopped) throw Interrupted();
    if (job.ranks != nullptr) take_all_samples(done, *job.ranks);
    return done;
}

}  // namespace

std::vector<uint8_t> read_mask(const std::string& path, const ModelConfig& model) {
    const std::vector<uint8_t> unknown = mask_of(read_image(path), model, path);
    std::vector<uint8_t> mask;  // of the sub-pixels of a pixel the first
    for (size_t i = 0; i < unknown.size(); i += static_cast<size_t>(model.channels))
        mask.push_back(unknown[i]);
    return mask;
}

namespace {

// What becomes of a task; of ranks but the leader an empty one.
struct Finished {
    CompleteResult result;
    Completion done;
};

struct OpenedModel {
    const Checkpoint& checkpoint;
    const Net& net;
};

// Before anything is drawn.
void check_change(const Net& net, const Task& task) {
    const ChangedValue& change = *task.change;
    const auto total = static_cast<int64_t>(task.request.unknown.size());
    const int64_t samples = task.request.sample.samples, levels = net.config().levels;
    if (change.sample < 0 || change.sample >= samples)
        fail_usage("--change: sample {} is not there; allowed: 0 to {}", change.sample,
                   samples - 1);
    if (change.position < 0 || change.position >= total ||
        task.request.unknown[static_cast<size_t>(change.position)] == 0)
        fail_usage("--change: position {} is not filled in; allowed: one of the mask, of 0 to {}",
                   change.position, total - 1);
    if (change.level < 0 || change.level >= levels)
        fail_usage("--change: level {} is not there; allowed: 0 to {}", change.level, levels - 1);
}

// The sample with the changed value; returns how many of its values differ then.
int64_t change_value(const Net& net, const Task& task, Completion& done,
                     const JobControl& control) {
    const ChangedValue& change = *task.change;
    CompletionRequest request = task.request;
    request.tokens = done.samples.front();
    request.from_position = change.position;
    request.from_sample = change.sample;
    request.forced = change.level;
    CompletionHooks hooks;
    hooks.continued = &done;
    Completion next = run_completion(net, request, hooks, control);
    if (next.stopped) throw Interrupted();
    const auto at = static_cast<size_t>(change.sample);
    int64_t changed = 0;
    for (size_t i = 0; i < next.samples[at].size(); ++i)
        changed += next.samples[at][i] != done.samples[at][i] ? 1 : 0;
    done = std::move(next);
    return changed;
}

Finished finish(const OpenedModel& model, const CompleteRequest& job, const Task& task,
                const JobControl& control) {
    const auto& [checkpoint, net] = model;
    Finished out;
    if (task.change) check_change(net, task);
    out.done = complete_part(job, task, net, control);
    if (job.ranks != nullptr && job.ranks->rank() != 0) return {};
    std::optional<int64_t> changed;
    if (task.change) changed = change_value(net, task, out.done, control);
    out.done.step = checkpoint.step;
    out.result = describe(job, task, out.done);
    out.result.changed = changed;
    if (task.known_original)
        out.result.original_log_likelihood_nats = naming_model(checkpoint.path, [&] {
            return log_likelihood(net, task.request.tokens, task.request.unknown);
        });
    if (job.sample.weights != "fp32")
        out.result.weights_cost_bits_per_dim = cost_of_weights(net, task, out.done);
    if (job.prompt)
        write_texts(job, checkpoint, out.done, out.result);
    else
        write_pictures(job, task, out.done, out.result);
    return out;
}

Task task_of(const CompleteRequest& job, const Checkpoint& checkpoint,
             const std::stop_token& stop) {
    if (job.prompt) return text_task(job, checkpoint);
    check_takes_pictures(job, checkpoint.config.model);
    return picture_task(job, checkpoint,
                        read_input(checkpoint, {job.image, "", job.data, job.index, stop}));
}

// Those that can be read; the others get their words.
std::vector<std::optional<Task>> batch_tasks(const CompleteRequest& job,
                                             const Checkpoint& checkpoint,
                                             const std::stop_token& stop,
                                             std::vector<CompletedExample>& pictures) {
    check_takes_pictures(job, checkpoint.config.model);
    const ExampleReader examples(checkpoint, job.data, stop);
    std::vector<std::optional<Task>> tasks;
    std::exception_ptr first;
    bool has_any = false;
    for (CompletedExample& picture : pictures) {
        tasks.emplace_back();
        const std::exception_ptr error = caught([&] {
            tasks.back().emplace(picture_task(job, checkpoint, examples.at(picture.index)));
        });
        has_any |= error == nullptr;
        if (error == nullptr) continue;
        if (first == nullptr) first = error;
        picture.error = error_words([&] { std::rethrow_exception(error); });
    }
    if (!has_any && first != nullptr) std::rethrow_exception(first);
    return tasks;
}

}  // namespace

CompleteResult complete_job(const CompleteRequest& job, const JobControl& control) {
    check_out(job);
    const Checkpoint checkpoint = read_checkpoint(job.model);
    check_whole(checkpoint, "complete");
    const Task task = task_of(job, checkpoint, control.stop);
    const bool leads = job.ranks == nullptr || job.ranks->rank() == 0;
    if (leads) check_place(job);
    Net net = make_net(checkpoint, parse_device(job.device));
    apply_recipe_file(net, job.recipe);
    return finish({checkpoint, net}, job, task, control).result;
}

CompleteBatchResult complete_batch_job(const CompleteRequest& job,
                                       const std::vector<int64_t>& indices,
                                       const JobControl& control) {
    check_out(job);
    if (is_png(job.out)) fail_usage("-o {}: several pictures need a folder", job.out);
    const Checkpoint checkpoint = read_checkpoint(job.model);
    check_whole(checkpoint, "complete");
    CompleteBatchResult out;
    for (const int64_t index : indices) out.pictures.push_back({index, {}, {}});
    const std::vector<std::optional<Task>> tasks =
        batch_tasks(job, checkpoint, control.stop, out.pictures);
    const bool leads = job.ranks == nullptr || job.ranks->rank() == 0;
    if (leads) check_place(job);
    Net net = make_net(checkpoint, parse_device(job.device));
    apply_recipe_file(net, job.recipe);
    const auto count = static_cast<int64_t>(tasks.size());
    std::vector<std::vector<Image>> columns;
    for (int64_t i = 0; i < count; ++i) {
        const auto at = static_cast<size_t>(i);
        if (!tasks[at]) continue;
        CompleteRequest one = job;
        one.out = (fs::path(job.out) / fmt::format("picture-{}", indices[at])).string();
        JobControl part;
        part.stop = control.stop;
        part.report = [&](const Progress& p) {
            control.report({i * p.total + p.done, count * p.total, p.what});
        };
        Finished done = finish({checkpoint, net}, one, *tasks[at], part);
        out.pictures[at].result = std::move(done.result);
        columns.push_back({masked_tile(tasks[at]->request, tasks[at]->model)});
        for (const auto& sample : done.done.samples)
            columns.back().push_back(tokens_picture(sample, tasks[at]->model));
    }
    if (!leads) return {};
    std::vector<Image> tiles;  // row by row
    for (size_t row = 0; row < columns.front().size(); ++row)
        for (const auto& column : columns) tiles.push_back(column[row]);
    out.grid = (fs::path(job.out) / "grid.png").string();
    write_png(out.grid, tile_grid(tiles, static_cast<int64_t>(columns.size())));
    return out;
}

}  // namespace aft
