// RankGroup: the processes that work on one thing together, rank 0 (the leader) to size() - 1, and
// what they say to each other. The engine is c10d of LibTorch with Gloo (TCP); a store at rank 0,
// or at torchrun's agent, is where they meet. No LibTorch in this header.
//
// gather, broadcast and exchange are collective: every rank calls them in the same order, one at a
// time (any thread); each blocks until all have come. Where a rank ended, does not answer within
// the time limit or left in an error, they throw an Error that names it; from then on every one of
// them does.
#pragma once
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "model/distributed/rank_place.h"

namespace aft {

class GpuLink;

// endless: for others that may take any time, as long as they live
enum class Patience { limited, endless };

class RankGroup {
  public:
    // Joins the others. Error where one of them has not come within `timeout_seconds`, where the
    // port is taken, or where the versions of the program differ.
    RankGroup(const RankPlace& place, double timeout_seconds);
    // The leader lets the others go, who wait in broadcast(..., Patience::endless) and get "".
    ~RankGroup();
    RankGroup(const RankGroup&) = delete;
    RankGroup& operator=(const RankGroup&) = delete;

    [[nodiscard]] int rank() const;
    [[nodiscard]] int size() const;
    // What every rank says, in their order. About 0.2 ms on one machine.
    [[nodiscard]] std::vector<std::string> gather(const std::string& mine,
                                                  Patience patience = Patience::limited);
    // What the leader says; what others pass is not looked at.
    std::string broadcast(const std::string& from_leader, Patience patience = Patience::limited);
    void broadcast(std::span<char> bytes);  // as many on every rank
    // in: counts_in[r] floats for each rank r, one after the other; out: counts_out[r] of each.
    struct RankBlocks {
        const std::vector<int64_t>& counts;  // per rank
        float* data;
    };
    // Memory of the processor, or with `between_gpus` (gpu_link.h) of the GPUs.
    void exchange(const RankBlocks& in, const RankBlocks& out, GpuLink* between_gpus = nullptr);
    // Of the leader, while it does something that takes several collectives: its threads take
    // turns.
    [[nodiscard]] std::unique_lock<std::recursive_mutex> lead();
    // This rank leaves in an error: what the others say of it.
    void leave(const std::string& words);
    [[nodiscard]] bool is_broken() const;  // a rank is lost: nothing can be asked any more
    [[nodiscard]] std::string name(int rank) const;  // "rank 1 (host, process 4711)"

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace aft
