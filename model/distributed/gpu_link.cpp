#include "model/distributed/gpu_link.h"

#include <c10/core/DeviceGuard.h>
#include <c10/core/Event.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include <algorithm>
#include <map>
#include <optional>
#include <thread>
#include <utility>

#include "core/caught.h"
#include "core/check.h"
#include "core/clock.h"
#include "core/outside.h"
#include "core/warnings.h"

namespace aft {
namespace {

constexpr std::chrono::microseconds kBetweenLooks{20};

c10::Stream current_stream(at::Device device) {
    return c10::impl::VirtualGuardImpl(device.type()).getStream(device);
}

}  // namespace

GpuLink::GpuLink(RankGroup& group, at::Device device, const Nccl& nccl)
    : nccl_(nccl), device_(device) {
    const c10::DeviceGuard guard(device);
    NcclId id;
    if (group.rank() == 0) check(nccl_.get_id(&id));
    group.broadcast(std::span(id.bytes));
    check(nccl_.init(&comm_, group.size(), id, group.rank()));
}

GpuLink::~GpuLink() {
    if (comm_ != nullptr) static_cast<void>(nccl_.abort(comm_));
}

// Ends what NCCL still does: a kernel of its waits for its peers for ever.
void GpuLink::give_up(const char* why) {
    if (comm_ != nullptr) static_cast<void>(nccl_.abort(std::exchange(comm_, nullptr)));
    fail("NCCL: {}", why);
}

void GpuLink::check(NcclResult result) {
    if (result != kNcclSuccess && result != kNcclInProgress) give_up(nccl_.error_words(result));
}

void GpuLink::exchange(const RankGroup::RankBlocks& in, const RankGroup::RankBlocks& out,
                       std::chrono::milliseconds limit) {
    if (comm_ == nullptr) give_up("a rank is lost");
    const c10::DeviceGuard guard(device_);
    check(nccl_.group_start());
    const std::string problem = error_words([&] { enqueue(in, out); });
    check(nccl_.group_end());  // also after a problem: the thread's group does not stay open
    if (!problem.empty()) give_up(problem.c_str());
    wait(limit);
}

void GpuLink::enqueue(const RankGroup::RankBlocks& in, const RankGroup::RankBlocks& out) {
    void* const stream = device_.is_cpu() ? nullptr : current_stream(device_).native_handle();
    const auto checked = [&](NcclResult result) {
        if (result != kNcclSuccess) fail("{}", nccl_.error_words(result));
    };
    const float* from = in.data;
    float* to = out.data;
    for (size_t r = 0; r < in.counts.size(); ++r) {
        const auto sent = static_cast<size_t>(in.counts[r]);
        const auto received = static_cast<size_t>(out.counts[r]);
        const auto peer = static_cast<int>(r);
        if (sent > 0) checked(nccl_.send(from, sent, kNcclFloat, peer, comm_, stream));
        if (received > 0) checked(nccl_.receive(to, received, kNcclFloat, peer, comm_, stream));
        from += sent;
        to += received;
    }
}

void GpuLink::wait(std::chrono::milliseconds limit) {
    std::optional<c10::Event> done;
    if (!device_.is_cpu()) {
        done.emplace(device_.type());
        done->record(current_stream(device_));
    }
    const auto start = std::chrono::steady_clock::now();
    for (NcclResult error = kNcclSuccess;;) {
        check(nccl_.async_error(comm_, &error));
        if (error != kNcclInProgress) check(error);
        if (done ? done->query() : error == kNcclSuccess) return;
        if (ms_since(start) > static_cast<double>(limit.count())) give_up("no answer");
        std::this_thread::sleep_for(kBetweenLooks);
    }
}

std::string no_link_words(const std::vector<std::string>& said) {
    std::map<std::string, size_t> owners;
    for (size_t rank = 0; rank < said.size(); ++rank) {
        const std::string& words = said[rank];
        if (words.starts_with('!'))
            return fmt::format("rank {}: {}", rank, printable(words.substr(1)));
        const auto [owner, is_new] = owners.try_emplace(words, rank);
        if (!words.empty() && !is_new)
            return fmt::format("ranks {} and {} share a GPU", owner->second, rank);
    }
    return "";
}

std::unique_ptr<GpuLink> link_gpus(RankGroup& group, at::Device device) {
    Nccl nccl;
    std::string mine;
    if (device.is_cuda()) {
        const std::string problem = open_nccl(nccl), address = gpu_address(device.index());
        mine = !problem.empty()  ? "!" + problem
               : address.empty() ? "!the driver does not say where its GPU is"
                                 : fmt::format("{} {}", host_name(), address);
    }
    const std::vector<std::string> said = group.gather(mine);
    const std::string refused = no_link_words(said);
    const bool all_have_one = std::count(said.begin(), said.end(), "") == 0;
    if (refused.empty() && all_have_one) return std::make_unique<GpuLink>(group, device, nccl);
    if (!refused.empty() && group.rank() == 0)
        warn_once(
            fmt::format("gradients go through the processor's memory, not by NCCL: {}", refused));
    return nullptr;
}

}  // namespace aft
