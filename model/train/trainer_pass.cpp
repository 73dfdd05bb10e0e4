// The inside of a step: forward and backward over micro batches, norms, the update, and the search
// for the layer that produced a NaN.
#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "core/check.h"
#include "core/rng.h"
#include "model/data/source.h"
#include "model/train/bias_norm.h"
#include "model/train/gradient_tree.h"
#include "model/train/trainer_impl.h"

namespace aft {
namespace {

constexpr uint64_t kDropoutStream = 0x64726f70;  // "drop": keeps these draws apart from all others
constexpr uint64_t kNoiseStream = 0x6e6f6973;    // "nois": those of the mixers

uint64_t mixed_seed(uint64_t seed, uint64_t stream, uint64_t counter) {
    const auto words = philox(seed, stream, counter);
    return uint64_t{words[0]} << 32 | words[1];
}

// A generator that is a function of (seed, step, micro batch) alone: a resumed run draws the same.
at::Generator dropout_generator(const at::Device& device, uint64_t seed, int64_t step,
                                int64_t micro) {
    constexpr uint64_t kMostMicro = 1 << 16;
    const uint64_t counter =
        static_cast<uint64_t>(step) * kMostMicro + static_cast<uint64_t>(micro);
    const uint64_t mixed = mixed_seed(seed, kDropoutStream, counter);
    at::Generator generator = device.is_cpu() ? at::detail::createCPUGenerator(mixed)
                                              : at::globalContext()
                                                    .getAcceleratorHooksInterface(device.type())
                                                    .getNewGenerator(device.index());
    generator.set_current_seed(mixed);
    return generator;
}

const char* group_name(ParameterGroup group) {
    switch (group) {
        case ParameterGroup::linear_weight:
            return "weight";
        case ParameterGroup::bias:
            return "bias";
        case ParameterGroup::norm:
            return "norm";
        case ParameterGroup::embedding:
            return "embedding";
        case ParameterGroup::position_bias:
            return "position_bias";
        case ParameterGroup::fixed:
            return "fixed";
    }
    return "?";
}

struct TapWords {
    std::string_view tap, words;
};
constexpr TapWords kTaps[] = {{"embedding", "the embedding"}, {"logits", "the logits"}};
constexpr TapWords kLayerTaps[] = {{"q", "q"},
                                   {"k", "k"},
                                   {"v", "v"},
                                   {"mix", "output of the operator"},
                                   {"mixed", "residual stream after the mixer"},
                                   {"out", "output of the layer"}};

// "layer 1, output of the layer"; a parameter by the name that it has in a checkpoint.
std::string layer_words(const std::string& name) {
    constexpr std::string_view kBlocks = "blocks.";
    if (!name.starts_with(kBlocks)) {
        for (const TapWords& known : kTaps)
            if (known.tap == name) return std::string(known.words);
        return fmt::format("'{}'", name);
    }
    const std::string rest = name.substr(kBlocks.size());
    const std::string layer = rest.substr(0, rest.find('.'));
    const std::string_view part =
        std::string_view(rest).substr(std::min(layer.size() + 1, rest.size()));
    for (const TapWords& known : kLayerTaps)
        if (known.tap == part) return fmt::format("layer {}, {}", layer, known.words);
    return fmt::format("layer {} ('{}')", layer, name);
}

bool all_finite(const at::Tensor& tensor) {
    return at::isfinite(tensor).all().item<bool>();
}

}  // namespace

Pass Trainer::Impl::pass(bool training, int64_t micro) const {
    Pass pass;
    pass.training = training;
    pass.dropout_rate = config.model.dropout;  // live: the net keeps the one it was built with
    pass.recompute = training && config.train.recompute;
    if (training && config.train.precision == "bf16") pass.arithmetic = Arithmetic::bf16;
    pass.backend = ops::parse_backend(config.train.backend);
    pass.stochastic_depth = config.train.stochastic_depth;
    if (training)
        pass.noise = mixed_seed(static_cast<uint64_t>(config.train.seed), kNoiseStream,
                                static_cast<uint64_t>(steps_done));
    if (training && (config.model.dropout > 0 || config.train.stochastic_depth > 0))
        pass.dropout =
            dropout_generator(device, static_cast<uint64_t>(config.train.seed), steps_done, micro);
    return pass;
}

static void add_cost(const ReduceCost& cost, StepReport& report) {
    report.timing["reduce_ms"] = cost.send_ms;
    report.timing["reduce_wait_ms"] = cost.wait_ms;
    report.timing["sent_bytes"] = static_cast<double>(cost.sent_bytes);
}

// Forward and backward of this rank's part of the batch; gradients add up, over all ranks in the
// end. Returns the loss of the whole batch; `failure` is set where a loss is not finite, on any
// rank: nobody begins the last backward pass then.
double Trainer::Impl::run_micro_batches(const Batch& batch, StepTotals& totals,
                                        StepReport& report) {
    std::string& failure = report.failure;
    const int64_t count = batch.input.size(0), size = std::min(micro_size(), count);
    GradientTree tree(net.parameters(), config.train.reproducible && size < count);
    for (int64_t first = 0, micro = data.part.first_micro; first < count; first += size, ++micro) {
        const int64_t n = std::min(size, count - first);
        const Batch piece = to_device(slice(batch, first, n), device);
        const TaskResult result = task->evaluate(net, piece, pass(true, micro), config.train.own);
        const double loss = result.loss.item<double>();
        totals.add(micro, loss, result);
        if (!std::isfinite(loss)) failure = find_failure(piece, micro);
        if (ranks && (first + n == count || !failure.empty())) {
            ranks->merge(totals, failure);
            if (failure.empty()) ranks->buckets().begin(!tree.is_on() && !config.train.recompute);
        }
        if (!failure.empty()) return loss;
        const double share = static_cast<double>(n) / static_cast<double>(config.train.batch);
        (n == config.train.batch ? result.loss : result.loss * share).backward();
        tree.add();
    }
    tree.finish();
    if (ranks) add_cost(ranks->buckets().finish(), report);
    return totals.loss();
}

// What the mixers add to the loss, once a step. The reported loss is without it.
void Trainer::Impl::add_penalty(StepReport& report) const {
    const at::Tensor penalty = net.penalty();
    if (!penalty.defined()) return;
    report.values["penalty"] = penalty.item<double>();
    penalty.backward();
}

// The forward pass again, observed: the first value that is not finite names its layer.
std::string Trainer::Impl::find_failure(const Batch& batch, int64_t micro) const {
    const c10::NoGradGuard no_grad;
    std::string first;
    const Tap tap = [&](const std::string& name, const at::Tensor& value) {
        if (first.empty() && !all_finite(value)) first = name;
    };
    for (const Parameter& parameter : net.parameters())
        if (first.empty() && !all_finite(parameter.value)) first = parameter.name;
    if (!first.empty()) return fmt::format("a parameter is not finite: {}", layer_words(first));
    Pass observed = pass(true, micro);
    observed.tap = &tap;
    (void)task->evaluate(net, batch, observed, config.train.own);
    if (first.empty()) return "the loss is not finite, though all layers are";
    return fmt::format("NaN or infinity first in {}", layer_words(first));
}

// Backward goes from the head to the embedding: the deepest layer that is hit comes first.
std::string Trainer::Impl::gradient_failure(const std::vector<double>& squares) const {
    for (size_t i = squares.size(); i-- > 0;)
        if (!std::isfinite(squares[i]))
            return fmt::format("NaN or infinity first in the gradient of {}",
                               layer_words(net.parameters()[i].name));
    return "";
}

void Trainer::Impl::add_norms(const std::vector<double>& squares, StepReport& report) const {
    std::map<std::string, double> sums;
    double total = 0;
    const Parameters& parameters = net.parameters();
    for (size_t i = 0; i < squares.size(); ++i) {
        // What is frozen takes no part of the update: its gradient clips no other.
        if (parameters[i].group == ParameterGroup::fixed || optimizer.is_frozen(i)) continue;
        total += squares[i];
        sums[fmt::format("grad_norm.group.{}", group_name(parameters[i].group))] += squares[i];
        if (parameters[i].layer >= 0)
            sums[fmt::format("grad_norm.layer.{}", parameters[i].layer)] += squares[i];
    }
    report.values["grad_norm"] = std::sqrt(total);
    for (const auto& [key, square] : sums) report.values[key] = std::sqrt(square);
}

// ||w|| of the effective position bias, as this step's update leaves it and a save stores it.
void Trainer::Impl::add_bias_norms(StepReport& report) const {
    for (int64_t layer = 0; layer < config.model.layers; ++layer)
        if (const auto square = squared_bias(net.mixer(layer), config.model.tokens()))
            report.values[fmt::format("bias_norm.layer.{}", layer)] = std::sqrt(*square);
}

// Norms, clipping, update. False (and a failure in the report) where a gradient is not finite.
bool Trainer::Impl::apply(StepReport& report) {
    const std::vector<double> squares =
        ranks ? ranks->squared_norms(optimizer) : optimizer.squared_norms();
    report.failure = gradient_failure(squares);
    if (!report.failure.empty()) return false;
    add_norms(squares, report);
    const double rate = scheduled_rate(config.train, steps_done);
    report.values["lr"] = rate;
    optimizer.update_clipped(config.train, rate, report.values["grad_norm"]);
    if (ranks && ranks->has_shards()) ranks->buckets().share_values();
    if (ema) ema->update(config.train.ema, [&](size_t i) { return optimizer.is_frozen(i); });
    return true;
}

void Trainer::Impl::load_validation() {
    data.validation.emplace();
    const int64_t rank = ranks ? ranks->group().rank() : 0, of = ranks ? ranks->group().size() : 1;
    const int64_t size = data.source->size(Split::validation);
    const int64_t wanted = std::min(config.train.validate_examples, size);
    const ChosenExamples chosen{.size = size, .count = wanted};
    for (int64_t first = 0, place = 0; first < wanted; first += micro_size(), ++place) {
        if (place % of != rank) continue;
        const int64_t count = std::min(micro_size(), wanted - first);
        const Batch batch =
            load_batch(*data.source, config.model, {chosen, Split::validation, first, count});
        if (batch.input.defined()) data.validation->emplace_back(place, to_device(batch, device));
    }
}

}  // namespace aft
