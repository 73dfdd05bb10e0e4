// GpuLink: what ranks send each other from GPU to GPU (NCCL), without a way through the processor's
// memory. One thread at a time.
#pragma once
#include <c10/core/Device.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "model/distributed/nccl.h"
#include "model/distributed/rank_group.h"

namespace aft {

class GpuLink {
  public:
    // Collective. Error where NCCL cannot connect the ranks. Some seconds on many of them.
    GpuLink(RankGroup& group, at::Device device, const Nccl& nccl);
    ~GpuLink();
    GpuLink(const GpuLink&) = delete;
    GpuLink& operator=(const GpuLink&) = delete;

    // Collective: RankGroup::exchange() with memory of the device, on the thread's current stream
    // behind what is there; blocks until it is done. Error where a rank fails or is not there
    // within `limit`; nothing can be sent after it.
    void exchange(const RankGroup::RankBlocks& in, const RankGroup::RankBlocks& out,
                  std::chrono::milliseconds limit);

  private:
    void check(NcclResult result);
    void enqueue(const RankGroup::RankBlocks& in, const RankGroup::RankBlocks& out);
    void wait(std::chrono::milliseconds limit);
    [[noreturn]] void give_up(const char* why);

    Nccl nccl_;
    at::Device device_;
    void* comm_ = nullptr;
};

// Why GPUs are not linked by what each rank says of its own: where it is ("host 0000:1b:00.0"), "!"
// and a reason, or "" where it computes on something else. "" = no reason to warn of.
[[nodiscard]] std::string no_link_words(const std::vector<std::string>& said);
// Collective, before the first sums of gradients: a link between the GPUs of all ranks, or none:
// where a rank computes on something else, two of them share a GPU (NCCL refuses that), or NCCL is
// not to be had. The leader warns of the last two.
[[nodiscard]] std::unique_ptr<GpuLink> link_gpus(RankGroup& group, at::Device device);

}  // namespace aft
