// What a trainer does with other ranks: the leader's orders, the batch's parts, the sums over all.
// Only for the files of Trainer. Trainer thread of each rank.
#pragma once
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "model/checkpoints/checkpoint.h"
#include "model/config.h"
#include "model/distributed/gradient_buckets.h"
#include "model/distributed/rank_group.h"
#include "model/train/optimizer.h"
#include "model/train/step_totals.h"

namespace aft {

// Orders of the leader: JSON with "do", which is begin (a trainer), step, validate, set, gather or
// end, and the "id" of its trainer.
inline constexpr const char* kOrder = "do";

class TrainerRanks {
  public:
    TrainerRanks(RankGroup& group, const Parameters& parameters, const TrainConfig& train)
        : group_(group),
          buckets_(group, parameters, train.shard_optimizer),
          has_shards_(train.shard_optimizer) {}
    [[nodiscard]] RankGroup& group() { return group_; }
    [[nodiscard]] GradientBuckets& buckets() { return buckets_; }
    void set_id(int64_t id) { id_ = id; }  // of the leader's trainer, in its orders
    // Of the leader, to those who wait in serve_training(): what all of them do next.
    void order(const std::string& what, nlohmann::json more = nlohmann::json::object());
    // Every rank's parts in `totals`, and the failure of the first that has one, with its name.
    void merge(StepTotals& totals, std::string& failure);
    // Of the gradients of all shards, as one process computes them.
    [[nodiscard]] std::vector<double> squared_norms(const AdamW& optimizer);
    // The leader gets the whole averages from all shards; the others get tensors of zeros.
    [[nodiscard]] OptimizerState gather(const AdamW& optimizer, const Parameters& parameters);
    [[nodiscard]] bool stops() const { return stops_; }  // a rank was asked to end
    [[nodiscard]] bool has_shards() const { return has_shards_; }

  private:
    RankGroup& group_;
    GradientBuckets buckets_;
    bool has_shards_, stops_ = false;
    int64_t id_ = 0;
};

// The part of a batch that a rank takes: [first, first + count), its micro batches from
// `first_micro` on.
struct BatchPart {
    int64_t first = 0, count = 0, first_micro = 0;
};
[[nodiscard]] BatchPart batch_part(const TrainConfig& train, int rank, int ranks);
// usage Error where the batch cannot be shared out so.
void check_ranks(const TrainConfig& train, int ranks);

// The leader's start, which the others take part in by receive_start().
void send_start(RankGroup& group, int64_t id, const Config& config, const Checkpoint* checkpoint);
struct TrainerStart {
    Checkpoint checkpoint{};  // without weights: a fresh run of its config
    bool is_fresh = true;
};
[[nodiscard]] TrainerStart receive_start(RankGroup& group, const nlohmann::json& order);
// All ranks have their trainer, or the Error of the first that has not.
void check_started(RankGroup& group, const std::string& problem);

}  // namespace aft
