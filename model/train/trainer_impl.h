// The implementation of Trainer: its state and the halves of a step. Only for trainer.cpp and
// trainer_pass.cpp. Trainer thread.
#pragma once
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/train/ema.h"
#include "model/train/frozen.h"
#include "model/train/step_totals.h"
#include "model/train/trainer.h"
#include "model/train/trainer_ranks.h"
#include "model/training_settings.h"

namespace aft {

struct OpenedData {
    std::shared_ptr<const DataSource> source;
    nlohmann::json description;
};

struct TrainingData {
    std::shared_ptr<const DataSource> source;
    nlohmann::json description;
    BatchPart part = {};  // of each batch: this rank's
    std::unique_ptr<Loader> loader = {};
    // Batches of this rank, on the device, with their places; loaded when first wanted.
    std::optional<std::vector<std::pair<int64_t, Batch>>> validation = {};
};

[[nodiscard]] inline TrainingData training_data(OpenedData opened) {
    return {.source = std::move(opened.source), .description = std::move(opened.description)};
}

struct Trainer::Impl {
    Config config;
    Net net;
    at::Device device;
    std::unique_ptr<TrainerRanks> ranks;  // none: alone
    AdamW optimizer;
    std::optional<WeightAverage> ema = {};  // where train.ema > 0
    TrainingData data;
    const TaskRoom* task;
    int64_t steps_done = 0;
    nlohmann::json last_metrics;

    Impl(const Config& given, OpenedData opened, Net made, RankGroup* group)
        : config(given),
          net(std::move(made)),
          device(net.parameters().front().value.device()),
          ranks(group == nullptr
                    ? nullptr
                    : std::make_unique<TrainerRanks>(*group, net.parameters(), config.train)),
          optimizer(net.parameters(), ranks ? ranks->buckets().shards() : Shards{}),
          data(training_data(std::move(opened))),
          task(&task_of(config.model)) {
        start_loader();
        if (config.train.ema > 0) ema.emplace(net.parameters());
        optimizer.freeze(frozen_of(config.train));
    }
    // The loader makes this rank's part of each batch; alone all of it.
    void start_loader();
    [[nodiscard]] StepReport step();
    [[nodiscard]] std::map<std::string, double> validate();
    // usage Error where train.freeze names what the net does not have.
    [[nodiscard]] std::vector<bool> frozen_of(const TrainConfig& train) const {
        return frozen_parameters(net.parameters(), train.own.read<FreezeSettings>().freeze);
    }

  private:
    [[nodiscard]] int64_t micro_size() const {
        const int64_t micro = config.train.micro_batch;
        return micro > 0 ? std::min(micro, config.train.batch) : config.train.batch;
    }
    [[nodiscard]] Pass pass(bool training, int64_t micro) const;
    double run_micro_batches(const Batch& batch, StepTotals& totals, StepReport& report);
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
