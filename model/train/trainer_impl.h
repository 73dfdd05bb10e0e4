// The implementation of Trainer: its state and the halves of a step. Only for trainer.cpp and
// trainer_pass.cpp. Trainer thread.
#pragma once
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/train/ema.h"
#include "model/train/trainer.h"

namespace aft {

// Sums of task results, weighted by tokens (loss, bits) or examples (accuracy).
struct StepTotals {
    double loss = 0, weight = 0;
    std::map<std::string, double> metrics;

    void add(double result_loss, const TaskResult& result) {
        const auto w = static_cast<double>(std::max(result.tokens, result.examples));
        loss += result_loss * w;
        weight += w;
        for (const auto& [key, value] : result.metrics) metrics[key] += value * w;
    }
    void write(const std::string& prefix, std::map<std::string, double>& to) const {
        to[prefix + "loss"] = loss / weight;
        for (const auto& [key, value] : metrics) to[prefix + key] = value / weight;
    }
};

struct TrainingData {
    std::shared_ptr<const DataSource> source;
    nlohmann::json description;
    Loader loader;
    std::vector<Batch> validation = {};  // on the device; loaded when first wanted
};

struct Trainer::Impl {
    Config config;
    Net net;
    at::Device device;
    AdamW optimizer;
    std::optional<WeightAverage> ema = {};  // where train.ema > 0
    TrainingData data;
    const TaskRoom* task;
    int64_t steps_done = 0;
    nlohmann::json last_metrics;

    Impl(const Config& given, const std::shared_ptr<const DataSource>& opened, Net made,
         nlohmann::json description)
        : config(given),
          net(std::move(made)),
          device(net.parameters().front().value.device()),
          optimizer(net.parameters()),
          data{.source = opened,
               .description = std::move(description),
               .loader = Loader(opened, {config.model, config.data, config.train.batch,
                                         static_cast<uint64_t>(config.train.seed)})},
          task(&task_of(config.model)) {
        if (config.train.ema > 0) ema.emplace(net.parameters());
    }

    [[nodiscard]] int64_t micro_size() const {
        const int64_t micro = config.train.micro_batch;
        return micro > 0 ? std::min(micro, config.train.batch) : config.train.batch;
    }
    [[nodiscard]] Pass pass(bool training, int64_t micro) const;
    double run_micro_batches(const Batch& batch, StepTotals& totals, std::string& failure);
    void add_penalty(StepReport& report) const;
    std::string find_failure(const Batch& batch, int64_t micro) const;
    std::string gradient_failure(const std::vector<double>& squares) const;
    void add_norms(const std::vector<double>& squares, StepReport& report) const;
    void add_bias_norms(StepReport& report) const;
    bool apply(StepReport& report);
    void load_validation();
};

[[nodiscard]] inline Batch to_device(const Batch& batch, at::Device device) {
    if (device.is_cpu()) return batch;
    Batch moved{.input = batch.input.to(device), .target = batch.target.to(device)};
    if (batch.soft_target.defined()) moved.soft_target = batch.soft_target.to(device);
    return moved;
}

}  // namespace aft
