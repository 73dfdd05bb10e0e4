// Trainer: one training step and everything that it needs; knows no thread, no window and no
// folder.
#pragma once
#include <exception>
#include <filesystem>
#include <map>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "core/settings.h"
#include "model/checkpoints/checkpoint.h"
#include "model/data/loader.h"
#include "model/net/net.h"
#include "model/tasks/task.h"
#include "model/train/optimizer.h"

namespace aft {

class RankGroup;

// One line of metrics.jsonl. `values` repeat bit for bit; `timing` depends on the clock.
struct StepReport {
    int64_t step = 0;  // steps done after this one
    // loss, lr, grad_norm, grad_norm.layer.N, bias_norm.layer.N, bits_per_dim, validation.loss, ...
    std::map<std::string, double> values;
    // step_ms, data_ms, examples_per_s, memory_bytes; of several ranks also reduce_ms (until the
    // gradients were summed), reduce_wait_ms (of it after the backward pass), sent_bytes
    std::map<std::string, double> timing;
    // NaN or infinity: names the first layer that produced it; the step was not applied.
    std::string failure;
    bool stops = false;  // another rank was asked to end (SIGTERM)
    // Of the validation: the step counts and is logged; then rethrow it.
    std::exception_ptr error{};
};

class Trainer {
  public:
    // ranks: the processes that it shares each batch with, or none. It outlives the trainer. The
    // trainers of the others follow the leader's (model/train/rank_worker.h); only its methods may
    // be called. stop: gives up while the data are listed, with Interrupted.
    Trainer(const Config& config, at::Device device, RankGroup* ranks = nullptr,
            const std::stop_token& stop = {});  // fresh
    // resumes, bit-identically
    Trainer(const Checkpoint& checkpoint, at::Device device, RankGroup* ranks = nullptr,
            const std::stop_token& stop = {});
    ~Trainer();

    [[nodiscard]] StepReport step();  // one optimiser step (+ validation where due)
    // "validation.loss", "validation.bits_per_dim", ...
    [[nodiscard]] std::map<std::string, double> validate();
    [[nodiscard]] Checkpoint checkpoint(bool with_optimizer) const;  // cloned, detached, on the CPU
    // A live setting; usage Error otherwise.
    void set(const std::string& key, const std::string& value);
    [[nodiscard]] int64_t steps_done() const;
    [[nodiscard]] const Config& config() const;
    [[nodiscard]] const Net& net() const;
    [[nodiscard]] std::shared_ptr<const DataSource> source() const;

  private:
    void start_ranks(const Checkpoint* checkpoint);
    [[nodiscard]] OptimizerState whole_state() const;
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

[[nodiscard]] int64_t peak_memory_bytes();  // of this process (VmHWM)
[[nodiscard]] int64_t memory_bytes();       // now (VmRSS)

}  // namespace aft
