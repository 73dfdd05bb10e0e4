// The worker's copies of the weights: live (renewed from the newest snapshot when a request needs
// it), of a running completion, and of stored steps. Worker thread only.
#pragma once
#include <list>
#include <memory>
#include <string>

#include "model/net/net.h"
#include "model/probe/probe.h"
#include "model/session/channels.h"

namespace aft::session {

struct Weights {
    const Net* net = nullptr;
    Activations* kept = nullptr;
    int64_t step = -1;
    uint64_t version = 0;  // another number whenever the net or its values have changed
};

class WeightStore {
  public:
    WeightStore(SessionChannels& channels, std::string device)
        : channels_(channels), device_(std::move(device)) {}
    // Of request.step, -1 = the snapshot; else the nearest stored step (bias history where the
    // probe needs no other weights). Error where nothing is stored. With a recipe a copy that it
    // changed; the two newest of these are kept.
    [[nodiscard]] Weights at(const ProbeRequest& request, const SnapshotPtr& snapshot);
    // For a completion: stays as it is until the next call, whatever is published meanwhile.
    [[nodiscard]] Weights own_at(const CompletionRequest& request, const SnapshotPtr& snapshot);

  private:
    struct Copy {
        std::unique_ptr<Net> net;
        Activations kept;
        uint64_t stamp = 0, version = 0;
        int64_t step = -1;
        bool biases_only = false;
    };
    // What a recipe made of other weights.
    struct ChangedCopy {
        Recipe recipe;
        uint64_t of_version = 0;  // of the weights that it changed
        Copy copy;
    };
    [[nodiscard]] static Weights weights_of(Copy& copy) {
        return {&*copy.net, &copy.kept, copy.step, copy.version};
    }
    void renew(Copy& copy, const SnapshotPtr& snapshot);
    [[nodiscard]] Copy& untouched(int64_t step, const std::string& probe,
                                  const SnapshotPtr& snapshot);
    [[nodiscard]] Copy& untouched_own(int64_t step, const SnapshotPtr& snapshot);
    void change(ChangedCopy& changed, const Copy& from, const Recipe& recipe);
    [[nodiscard]] Copy& past(int64_t step, bool biases_only, const SnapshotPtr& snapshot);
    void fill(Copy& copy, const Checkpoint& checkpoint);

    SessionChannels& channels_;
    std::string device_;
    Copy live_, completing_;
    std::list<Copy> past_;            // newest use first
    std::list<ChangedCopy> changed_;  // the same
    ChangedCopy changed_own_;         // of completing_
    uint64_t past_since_ = 0;         // StoredSteps::valid_since when they were read
    uint64_t completing_since_ = 0;
    uint64_t fills_ = 0;
};

}  // namespace aft::session
