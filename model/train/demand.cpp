#include "model/train/demand.h"

#include <unistd.h>

#include <algorithm>

#include "core/check.h"
#include "core/text.h"
#include "model/net/net.h"
#include "model/train/frozen.h"
#include "model/training_settings.h"

namespace aft {
namespace {

double machine_memory() {
    return static_cast<double>(::sysconf(_SC_PHYS_PAGES)) *
           static_cast<double>(::sysconf(_SC_PAGESIZE));
}

}  // namespace

Demand training_demand(const Config& config) {
    const ModelConfig& model = config.model;
    const TrainConfig& train = config.train;
    // Shapes alone: a window asks at every key, also about models that would not fit in here.
    ModelConfig counted = model;
    counted.init = "normal";  // the other ways make values first
    const Net net(counted, static_cast<uint64_t>(train.seed), at::kMeta);
    static_cast<void>(frozen_parameters(net.parameters(), train.own.read<FreezeSettings>().freeze));
    const auto parameters = static_cast<double>(parameter_count(net.parameters()));
    const auto T = static_cast<double>(model.tokens());
    const auto batch = static_cast<double>(train.batch);
    const double micro =
        train.micro_batch > 0 ? std::min(batch, static_cast<double>(train.micro_batch)) : batch;
    const auto dim = static_cast<double>(model.dim), ratio = static_cast<double>(model.mlp_ratio);
    const auto layers = static_cast<double>(model.layers);
    // Kept for the backward pass of a block, in floats per token: norms 2, q k v 3, operator 6,
    // o 1, residuals 2, fc1 and GELU 2 mlp_ratio. Recomputed blocks keep their input only.
    constexpr double kMixing = 14, kFloat = 4, kWork = 4;
    const double block = (kMixing + 2 * ratio) * dim;
    const double kept = train.recompute ? layers * dim + block : layers * block;
    const double logits = model.causal() ? 3.0 * static_cast<double>(model.levels) : 0.0;
    // Forward 2, backward 4 operations per weight and token, and as much again for the operator
    // over T or its window.
    const auto window = static_cast<double>(mixer_traits(model).window);
    const double span = window > 0 ? std::min(T, window) : T;
    Demand out;
    out.parameters = parameters;
    out.weights_bytes = parameters * kFloat;
    out.activations_bytes = micro * T * (kept + logits) * kFloat;
    out.training_bytes = kWork * out.weights_bytes + out.activations_bytes;
    out.step_operations =
        batch * T * (6 * parameters + 12 * layers * span * dim) * (train.recompute ? 4.0 / 3 : 1);
    return out;
}

void check_demand(const Config& config, at::Device device) {
    if (!device.is_cpu()) {
        if (config.train.precision == "bf16")
            fail("train.precision=bf16 needs the processor, found device {}; allowed there: fp32",
                 device.str());
        return;
    }
    constexpr double kDoubt = 2;
    const double needed = training_demand(config).training_bytes, there = machine_memory();
    if (there > 0 && needed > kDoubt * there)
        fail(
            "train: batch {} of {} layers of width {} over {} tokens needs about {} of memory, "
            "this machine has {}; lower train.batch or train.micro_batch, or set "
            "train.recompute=true",
            config.train.batch, config.model.layers, config.model.dim, config.model.tokens(),
            byte_size(needed), byte_size(there));
}

}  // namespace aft
