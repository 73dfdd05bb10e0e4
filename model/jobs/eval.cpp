#include "model/jobs/eval.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "core/caught.h"
#include "core/check.h"
#include "core/clock.h"
#include "core/files.h"
#include "core/outside.h"
#include "model/checkpoints/checkpoint.h"
#include "model/data/loader.h"
#include "model/decode/input.h"
#include "model/device.h"
#include "model/distributed/rank_group.h"
#include "model/interventions/recipe_file.h"
#include "model/jobs/eval_examples.h"
#include "model/jobs/eval_parts.h"
#include "model/mixers/find.h"
#include "model/net/cost.h"
#include "model/probe/masks.h"
#include "model/tasks/task.h"
#include "model/train/trainer.h"

namespace aft {
namespace {

struct Evaluation {
    const Net& net;
    const DataSource& source;
    Split split;
    at::Device device;
    int64_t batch = 0;
    const JobControl& control;
    ExampleScores& scores;
    int64_t length = 0;  // text: bytes of a window
    RankGroup* ranks = nullptr;

    [[nodiscard]] const ModelConfig& model() const { return net.config(); }
    void report(int64_t done, int64_t total) const {
        if (control.stop.stop_requested()) throw Interrupted();
        control.report({.done = done, .total = total, .what = "examples"});
    }
};

// Logits dominate: about 64 MiB of them at once, at most 32 examples.
int64_t default_batch(const ModelConfig& model) {
    const int64_t outputs =
        model.tokens() * (task_traits(model).has_classes ? model.dim : model.levels);
    return std::clamp<int64_t>((int64_t{16} << 20) / std::max<int64_t>(1, outputs), 1, 32);
}

EvalTotals evaluate_pictures(const Evaluation& work, const ChosenExamples& chosen) {
    const TaskRoom& task = task_of(work.model());
    EvalParts parts(work.ranks);
    const int64_t count = chosen.count;
    for (int64_t first = 0; first < count; first += work.batch) {
        if (!parts.is_mine(first / work.batch)) continue;
        work.report(first, count);
        Batch batch = load_batch(work.source, work.model(),
                                 {chosen, work.split, first, std::min(work.batch, count - first)});
        if (!batch.input.defined()) continue;  // none of them can be read
        batch.input = batch.input.to(work.device);
        batch.target = batch.target.to(work.device);
        const TaskResult result = task.evaluate(work.net, batch, Pass{}, {});
        work.scores.add(result, batch);
        EvalTotals totals{.nats = result.loss.item<double>() * static_cast<double>(result.tokens),
                          .tokens = result.tokens,
                          .examples = result.examples};
        if (const auto found = result.metrics.find(task.traits.metric);
            found != result.metrics.end())
            totals.metric = found->second * static_cast<double>(result.examples);
        parts.add(first / work.batch, totals);
    }
    work.report(count, count);
    return parts.all(work.scores);
}

// A window of text, of which the tokens from `counted` on are measured.
struct TextWindow {
    int64_t start = 0, length = 0, counted = 0, number = 0;
};

// Every byte is measured once: in windows side by side (the last one may be shorter), or with a
// stride in overlapping ones, whose first part is context only.
std::vector<TextWindow> text_windows(int64_t bytes, int64_t length, int64_t stride) {
    std::vector<TextWindow> windows;
    int64_t measured = 0;
    for (int64_t start = 0; measured < bytes; start += stride) {
        const int64_t end = std::min(bytes, start + length);
        const auto number = static_cast<int64_t>(windows.size());
        windows.push_back({start, end - start, measured - start, number});
        measured = end;
    }
    return windows;
}

// Windows of one length.
void evaluate_windows(const Evaluation& work, std::span<const TextWindow> windows,
                      EvalParts& parts) {
    std::vector<at::Tensor> rows;
    for (const TextWindow& window : windows) {
        const auto values = work.source.window(work.split, window.start, window.length).values;
        rows.push_back(at::tensor(values, at::kByte).to(at::kLong));
    }
    const at::Tensor tokens = at::stack(rows).to(work.device);  // [B, T']
    const at::Tensor logits = work.net.forward(tokens, Pass{});
    const at::Tensor nats =
        at::cross_entropy_loss(logits.transpose(1, 2), tokens, {}, at::Reduction::None)
            .to(at::kDouble);
    for (size_t row = 0; row < windows.size(); ++row) {
        const TextWindow& window = windows[row];
        const at::Tensor counted = nats[static_cast<int64_t>(row)].slice(0, window.counted);
        const double sum = counted.sum().item<double>();
        work.scores.add(window.number, sum, counted.numel());
        parts.add(window.number, {.nats = sum, .tokens = counted.numel(), .examples = 1});
    }
}

// What --limit and --index choose of the part.
ChosenExamples chosen_of(const EvalRequest& request, int64_t size) {
    if (request.index >= size)
        fail_usage("--index {}: the examples of data '{}' are 0 to {}", request.index, request.data,
                   size - 1);
    const int64_t all = size - std::max<int64_t>(request.index, 0);
    const int64_t count = request.limit > 0 ? std::min(request.limit, all) : all;
    return {.size = size, .count = count, .first = request.index};
}

EvalTotals evaluate_text(const Evaluation& work, const EvalRequest& request) {
    const int64_t bytes = work.source.text_size(work.split), length = work.length;
    const std::vector<TextWindow> there =
        text_windows(bytes, length, request.stride > 0 ? request.stride : length);
    const ChosenExamples chosen = chosen_of(request, static_cast<int64_t>(there.size()));
    std::vector<TextWindow> windows;
    for (int64_t place = 0; place < chosen.count; ++place)
        windows.push_back(there[static_cast<size_t>(chosen.index(place))]);
    EvalParts parts(work.ranks);
    const std::span<const TextWindow> all = windows;
    int64_t batch = 0;
    for (size_t first = 0; first < all.size(); ++batch) {
        size_t count = 1;  // windows of one length go together
        while (first + count < all.size() && count < static_cast<size_t>(work.batch) &&
               all[first + count].length == all[first].length)
            ++count;
        if (parts.is_mine(batch)) {
            work.report(static_cast<int64_t>(first), static_cast<int64_t>(all.size()));
            evaluate_windows(work, all.subspan(first, count), parts);
        }
        first += count;
    }
    return parts.all(work.scores);
}

EvalResult result_of(const Evaluation& work, const EvalTotals& totals) {
    const TaskRoom& task = task_of(work.model());
    EvalResult result;
    result.task = task.info.name;
    result.split = split_name(work.split);
    result.loss_nats = totals.nats / static_cast<double>(std::max<int64_t>(1, totals.tokens));
    result.metric = task.traits.metric;
    result.metric_value = task.metric != nullptr
                              ? task.metric(result.loss_nats)
                              : totals.metric / static_cast<double>(totals.examples);
    result.tokens = totals.tokens;
    result.examples = totals.examples;
    return result;
}

constexpr const char* kByName = "by-name";

void check_request(const EvalRequest& request, const ModelConfig& model) {
    if (request.classes != "exact" && request.classes != kByName)
        fail_usage("--classes is '{}'; allowed: exact, by-name", shown(request.classes));
    if (!request.examples_file.empty()) check_writable(request.examples_file);
    if (request.stride == 0) return;
    if (!task_traits(model).is_text())
        fail_usage("--stride is {}, but the model is for pictures: it applies to text only",
                   request.stride);
    if (request.stride < 0 || request.stride > model.tokens())
        fail_usage("--stride is {}; allowed: 1 to {}, the model's window", request.stride,
                   model.tokens());
}

// The data with the part that --split names.
Spec spec_of(const EvalRequest& request, const std::stop_token& stop) {
    Spec spec = parse_spec(request.data, stop);
    if (request.split.empty()) return spec;
    if (request.split != kAllParts) (void)parse_split(request.split);
    const auto [named, is_new] = spec.options.emplace("split", request.split);
    if (!is_new && named->second != request.split)
        fail_usage("--split is {}, but the data say split={}", request.split, shown(named->second));
    return spec;
}

// Says which weights are to blame, if any are.
void check_loss(const EvalResult& result, const Net& net) {
    if (std::isfinite(result.loss_nats)) return;
    std::string reason = "all weights are finite numbers";
    std::vector<std::pair<std::string, at::Tensor>> weights;
    for (const Parameter& parameter : net.parameters())
        weights.emplace_back(parameter.name, parameter.value);
    const std::vector<std::string> faults = probe::weight_faults(net.config(), weights);
    if (!faults.empty()) reason = fmt::format("NaN or infinity in {}", shown_names(faults));
    fail("{}: the loss is not a finite number ({}; step {})", result.model, reason, result.step);
}

void add_what_data_know(EvalResult& result, const Evaluation& work, const ChosenExamples& chosen) {
    const DataInfo& info = work.source.info();
    if (info.is_text) result.perplexity = std::exp(result.loss_nats);
    if (task_traits(work.model()).tokens != TokenKind::values) return;
    if (info.floor_bits) {
        result.floor_bits = info.floor_bits;
        result.floor_note = info.floor_note;
    }
    if (work.ranks != nullptr && work.ranks->rank() != 0) return;
    result.baselines = measure_baselines(work.source, work.split, chosen, work.control);
}

void add_note(EvalResult& result, const std::string& words) {
    result.note += (result.note.empty() ? "" : "; ") + words;
}

EvalResult measured(const EvalRequest& request, const Evaluation& work) {
    const bool is_text = work.source.info().is_text;
    const int64_t size = is_text ? work.source.text_size(work.split) : work.source.size(work.split);
    AFT_CHECK(size > 0, "data '{}': the {} part is empty", request.data, split_name(work.split));
    const ChosenExamples chosen = is_text ? ChosenExamples{} : chosen_of(request, size);
    const EvalTotals totals =
        is_text ? evaluate_text(work, request) : evaluate_pictures(work, chosen);
    AFT_CHECK(totals.tokens > 0, "data '{}': none of the {} examples can be read", request.data,
              chosen.count);
    EvalResult result = result_of(work, totals);
    result.metric_error = work.scores.metric_error();
    result.classes = work.scores.classes(work.source.info(), work.model().outputs());
    add_what_data_know(result, work, chosen);
    if (!is_text && totals.examples < chosen.count)
        result.note = fmt::format("{} of {} examples cannot be read and are left out",
                                  chosen.count - totals.examples, chosen.count);
    return result;
}

int64_t parameters_of(const Net& net) {
    int64_t n = 0;
    for (const Parameter& parameter : net.parameters()) n += parameter.value.numel();
    return n;
}

// Pictures may be larger than those of the training.
std::optional<double> flops_of(ModelConfig model, const DataInfo& info, int64_t length) {
    if (find_mixer(model.mixer).cost == nullptr) return {};
    if (!info.is_text && info.height > 0 && info.width > 0) {
        model.height = info.height;
        model.width = info.width;
    }
    CostShape shape = shape_of(model);
    if (info.is_text) shape = {.tokens = length, .grid_height = 1, .grid_width = length};
    return net_cost(model, shape).all.forward_flops;
}

EvalResult evaluate(EvalRequest request, const JobControl& control) {
    const c10::NoGradGuard no_grad;
    const auto start = std::chrono::steady_clock::now();
    const OnFailure leave([&] {  // the others need not wait
        if (request.ranks != nullptr) request.ranks->leave("it ended before its part was measured");
    });
    Checkpoint checkpoint = read_checkpoint(request.model);
    check_whole(checkpoint, "eval");
    if (request.ema) use_average(checkpoint);
    const ModelConfig& model = checkpoint.config.model;
    const bool are_own = request.data.empty();
    request.data = data_or_own(checkpoint, request.data);
    check_request(request, model);
    const Spec spec = spec_of(request, control.stop);
    const auto seed = static_cast<uint64_t>(checkpoint.config.train.seed);
    const auto source = open_for_model(spec, seed, model,
                                       {.alphabet = alphabet_of(checkpoint),
                                        .class_names = class_names_of(checkpoint),
                                        .classes_by_name = request.classes == kByName});
    const at::Device device = parse_device(request.device);
    Net net = make_net(checkpoint, device);
    // A layer whose bias is changed holds it as a whole map from then on.
    const int64_t parameters = parameters_of(net);
    apply_recipe_file(net, request.recipe);
    const Split split = measured_split(spec, *source);
    ExampleScores scores(task_of(model));
    const int64_t batch = request.batch > 0 ? request.batch : default_batch(model);
    const int64_t length = spec.integer("length", model.tokens(), 1, model.tokens());
    const auto measure = [&](const Net& of, ExampleScores& into) {
        return measured(request,
                        {of, *source, split, device, batch, control, into, length, request.ranks});
    };
    EvalResult result = measure(net, scores);
    if (!request.recipe.empty()) {
        ExampleScores before(task_of(model));
        const EvalResult untouched = measure(make_net(checkpoint, device), before);
        result.change = {.untouched_loss_nats = untouched.loss_nats,
                         .untouched_metric = untouched.metric_value,
                         .metric = paired_change(before.metrics(), scores.metrics())};
    }
    if (const auto named = spec.options.find("split");
        named != spec.options.end() && named->second == kAllParts)
        result.split = kAllParts;
    if (split == Split::train && !spec.options.contains("split"))
        add_note(result, "measured on the training part: the data have no other");
    if (are_own) add_note(result, "the data are those that the model names as its own");
    result.model = request.model;
    result.step = checkpoint.step;
    result.data = request.data;
    check_loss(result, net);
    const bool leads = request.ranks == nullptr || request.ranks->rank() == 0;
    if (leads && !request.examples_file.empty()) scores.write_csv(request.examples_file);
    result.cost = {.parameters = parameters,
                   .flops_per_example = flops_of(model, source->info(), length),
                   .seconds = seconds_since(start),
                   .peak_memory_bytes = peak_memory_bytes(),
                   .device = device.str(),
                   .seed = checkpoint.config.train.seed};
    return result;
}

}  // namespace

EvalResult eval_job(const EvalRequest& request, const JobControl& control) {
    EvalResult result;
    with_plain_errors([&] { result = evaluate(request, control); });
    return result;
}

}  // namespace aft
