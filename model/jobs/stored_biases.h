// Jobs: the position biases of stored models, for views that look at several at once. Plain types.
// No LibTorch. Block on the disk; any thread, one at a time for one StoredBiases.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/field.h"
#include "core/progress.h"
#include "model/metrics.h"
#include "model/requests.h"
#include "model/status.h"

namespace aft {

// What is known of a checkpoint or run folder without its tensors.
struct StoredModel {
    // As of a session that has opened it: name, path, config, traits, layers by their number,
    // tokens and grid; step: the newest stored one.
    Status status;
    std::vector<int64_t> steps;  // whose position biases are stored, ascending
    std::vector<int64_t> saved;  // those with whole weights
    Curves curves;               // what the run has logged; empty for a checkpoint
    uint64_t log_bytes = 0;      // of metrics.jsonl that are in them
    bool is_growing = false;     // a process trains it now
};
// Error as opening it would give, or where nothing is stored yet.
[[nodiscard]] StoredModel stored_model(const std::string& path);
// Takes what the run has logged since into `model.curves`, and nothing else; reads it anew where
// the log was written anew. False: there is nothing new. Error as stored_model(), or at a broken
// line.
bool follow_log(StoredModel& model);

// Reads them, and keeps the weights that it has read last for the next question.
class StoredBiases {
  public:
    static constexpr size_t kMostKept = 4;  // models in memory

    StoredBiases();
    ~StoredBiases();
    StoredBiases(const StoredBiases&) = delete;
    StoredBiases& operator=(const StoredBiases&) = delete;
    // The answer of a probe that needs position biases alone ("bias", "kernel") at the stored
    // moment request.step; -1 = the newest. Of request.recipe what changes biases is done to them
    // first. Error: what is stored instead.
    [[nodiscard]] FieldSet ask(const std::string& path, const ProbeRequest& request,
                               const JobControl& control);
    [[nodiscard]] size_t kept() const;

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace aft
