// Gloo's headers come from Debian (libgloo-dev), for declarations alone: what is linked is
// LibTorch's own copy.
#include "model/distributed/rank_group.h"

#include <ATen/ATen.h>
#include <c10/util/Flags.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

#include "core/caught.h"
#include "core/check.h"
#include "core/clock.h"
#include "core/environment.h"
#include "core/files.h"
#include "core/outside.h"
#include "model/distributed/gpu_link.h"

C10_DECLARE_int(caffe2_log_level);

namespace aft {
namespace {

using Milliseconds = std::chrono::milliseconds;
constexpr Milliseconds kEndless = std::chrono::hours(24 * 365);
// How long those that are left wait for each other, to find out who is missing.
constexpr Milliseconds kRollCall{4000};
constexpr Milliseconds kBetweenLooks{20};
// How long the leader, whose store it is, lets the others read why a rank has left.
constexpr Milliseconds kStoreStays{300};

Milliseconds milliseconds(double seconds) {
    return Milliseconds(static_cast<int64_t>(seconds * 1000));
}

std::vector<uint8_t> bytes_of(const std::string& text) {
    return {text.begin(), text.end()};
}

// LibTorch's flight recorder keeps the latest operations of all groups of a process in a map that
// it fills without a lock: ranks that are threads of one process corrupt it. Nothing here reads it.
void disable_flight_recorder() {
    static const int done = ::setenv("TORCH_FR_BUFFER_SIZE", "0", 0);
    static_cast<void>(done);
}

c10::intrusive_ptr<c10d::Store> open_store(const RankPlace& place, Milliseconds timeout) {
    c10d::TCPStoreOptions options;
    options.port = static_cast<uint16_t>(place.port);
    options.isServer = place.rank == 0 && !place.has_agent_store;
    options.waitWorkers = false;
    if (place.listener >= 0) options.masterListenFd = place.listener;
    options.timeout = timeout;
    c10::intrusive_ptr<c10d::Store> store;
    const std::string problem =
        error_words([&] { store = c10::make_intrusive<c10d::TCPStore>(place.address, options); });
    if (!problem.empty())
        fail("rank {} of {}: cannot {} {}:{} ({}): {:.200}", place.rank, place.size,
             options.isServer ? "serve at" : "reach rank 0 at", place.address, place.port,
             options.isServer ? "is the port taken? MASTER_PORT chooses another"
                              : "MASTER_ADDR and MASTER_PORT",
             problem.substr(0, problem.find('\n')));
    return c10::make_intrusive<c10d::PrefixStore>(fmt::format("afterimage/{}", place.restart),
                                                  store);
}

// While it lives, threads that are started take no signals: those are for the program's own.
class SignalsHeld {
  public:
    SignalsHeld() {
        sigset_t all;
        sigfillset(&all);
        pthread_sigmask(SIG_BLOCK, &all, &before_);
    }
    ~SignalsHeld() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
    SignalsHeld(const SignalsHeld&) = delete;
    SignalsHeld& operator=(const SignalsHeld&) = delete;

  private:
    sigset_t before_{};
};

// A tensor over memory that outlives the collective.
at::Tensor view_of(void* data, int64_t count, at::ScalarType type) {
    return at::from_blob(data, {count}, at::TensorOptions().dtype(type));
}

int64_t sum_of(const std::vector<int64_t>& counts) {
    int64_t sum = 0;
    for (const int64_t count : counts) sum += count;
    return sum;
}

}  // namespace

struct RankGroup::Impl {
    RankPlace place;
    Milliseconds timeout;
    c10::intrusive_ptr<c10d::Store> store;
    c10::intrusive_ptr<c10d::ProcessGroupGloo> gloo;
    std::vector<std::string> names;  // "host, process 4711"
    std::atomic<bool> is_broken{false};
    std::string problem;        // why it is broken
    std::recursive_mutex turn;  // of the leader's threads

    [[nodiscard]] bool leads() const { return place.rank == 0; }
    void meet();
    void check_all_came() const;
    // Runs one collective; what goes wrong becomes the name of the rank that is missing.
    template <class Work>
    void together(const Work& work) {
        if (is_broken) fail("{}", problem);
        const std::string words = error_words(work);
        if (words.empty()) return;
        problem = missing_words(words);
        is_broken = true;
        fail("{}", problem);
    }
    [[nodiscard]] std::string missing_words(const std::string& engine) const;
    [[nodiscard]] std::string said_before_leaving(int rank) const;
    struct RankCounts {
        const std::vector<int64_t>&in, &out;
    };
    void alltoall(at::Tensor in, at::Tensor out, const RankCounts& counts,
                  Milliseconds patience) const {
        std::vector<int64_t> in_splits = counts.in, out_splits = counts.out;
        c10d::AllToAllOptions options;
        options.timeout = patience;
        gloo->alltoall_base(out, in, out_splits, in_splits, options)->wait();
    }
    void broadcast(at::Tensor tensor, Milliseconds patience) const {
        std::vector<at::Tensor> tensors{std::move(tensor)};
        c10d::BroadcastOptions options;
        options.rootRank = 0;
        options.timeout = patience;
        gloo->broadcast(tensors, options)->wait();
    }
};

// The store's keys: here/R = "host, process P|version"; alive/R while looking for who is missing;
// left/R = why.
void RankGroup::Impl::meet() {
    store = open_store(place, timeout);
    const std::string me = fmt::format("{}, process {}|{}", host_name(), getpid(), version());
    store->set(fmt::format("here/{}", place.rank), bytes_of(me));
    check_all_came();
    names.resize(static_cast<size_t>(place.size));
    for (int r = 0; r < place.size; ++r) {
        const auto bytes = store->get(fmt::format("here/{}", r));
        const std::string text(bytes.begin(), bytes.end());
        const size_t bar = text.find('|');
        names[static_cast<size_t>(r)] = printable(text.substr(0, bar));
        const std::string theirs = bar == std::string::npos ? "?" : text.substr(bar + 1);
        AFT_CHECK(theirs == version(), "rank {} ({}) is Afterimage {:.20}, rank {} is {}", r,
                  names[static_cast<size_t>(r)], printable(theirs), place.rank, version());
    }
    disable_flight_recorder();
    const auto options = c10d::ProcessGroupGloo::Options::create();
    options->timeout = timeout;
    options->devices.push_back(place.local_size == place.size
                                   ? c10d::ProcessGroupGloo::createDeviceForHostname("127.0.0.1")
                                   : c10d::ProcessGroupGloo::createDefaultDevice());
    gloo = c10::make_intrusive<c10d::ProcessGroupGloo>(store, place.rank, place.size, options);
}

void RankGroup::Impl::check_all_came() const {
    const auto start = std::chrono::steady_clock::now();
    for (int r = 0; r < place.size; ++r) {
        const std::string key = fmt::format("here/{}", r);
        while (!store->check({key})) {
            if (ms_since(start) > static_cast<double>(timeout.count()))
                fail("rank {} of {} has not come within {:.0f} s (rank {} waits at {}:{})", r,
                     place.size, static_cast<double>(timeout.count()) / 1000, place.rank,
                     place.address, place.port);
            std::this_thread::sleep_for(kBetweenLooks);
        }
    }
}

std::string RankGroup::Impl::said_before_leaving(int rank) const {
    std::string said;
    static_cast<void>(error_words([&] {
        const std::string key = fmt::format("left/{}", rank);
        if (!store->check({key})) return;
        const auto bytes = store->get(key);
        said.assign(bytes.begin(), bytes.end());
    }));
    return printable(said);
}

// A roll call: those that are left say so in the store. Without a store rank 0 is the one.
std::string RankGroup::Impl::missing_words(const std::string& engine) const {
    std::vector<int> missing;
    std::vector<std::string> said(static_cast<size_t>(place.size));
    const std::string no_store = error_words([&] {
        store->set(fmt::format("alive/{}", place.rank), bytes_of("yes"));
        const auto start = std::chrono::steady_clock::now();
        for (bool waits = true;
             waits && ms_since(start) < static_cast<double>(kRollCall.count());) {
            missing.clear();
            waits = false;
            for (int r = 0; r < place.size; ++r) {
                if (store->check({fmt::format("alive/{}", r)})) continue;
                missing.push_back(r);
                std::string& words = said[static_cast<size_t>(r)];
                if (words.empty()) words = said_before_leaving(r);
                waits |= words.empty();
            }
            std::this_thread::sleep_for(kBetweenLooks);
        }
        if (leads()) std::this_thread::sleep_for(kStoreStays);
    });
    if (!no_store.empty()) missing = {0};
    std::vector<std::string> words;
    for (const int r : missing) {
        const std::string& reason = said[static_cast<size_t>(r)];
        words.push_back(
            fmt::format("rank {} ({}) {}", r, names[static_cast<size_t>(r)],
                        reason.empty() ? "ended or does not answer" : "ended: " + reason));
    }
    if (words.empty())
        return fmt::format("the ranks lost each other: {:.200}",
                           engine.substr(0, engine.find('\n')));
    return fmt::format("{}", fmt::join(words, "; "));
}

RankGroup::RankGroup(const RankPlace& place, double timeout_seconds)
    : impl_(std::make_unique<Impl>()) {
    // What c10d logs of lost connections comes back as errors, with better words.
    constexpr int kNothing = 4;
    if (variable("TORCH_CPP_LOG_LEVEL").empty()) FLAGS_caffe2_log_level = kNothing;
    impl_->place = place;
    impl_->timeout = milliseconds(timeout_seconds);
    const SignalsHeld while_threads_start;
    impl_->meet();
}

RankGroup::~RankGroup() {
    if (impl_->leads() && !impl_->is_broken)
        static_cast<void>(error_words([&] {  // they may have gone already
            int64_t length = 0;
            impl_->broadcast(view_of(&length, 1, at::kLong), impl_->timeout);
        }));
}

int RankGroup::rank() const {
    return impl_->place.rank;
}
int RankGroup::size() const {
    return impl_->place.size;
}
bool RankGroup::is_broken() const {
    return impl_->is_broken;
}
std::unique_lock<std::recursive_mutex> RankGroup::lead() {
    return std::unique_lock(impl_->turn);
}
std::string RankGroup::name(int rank) const {
    return fmt::format("rank {} ({})", rank, impl_->names[static_cast<size_t>(rank)]);
}

std::vector<std::string> RankGroup::gather(const std::string& mine, Patience patience) {
    std::vector<std::string> all(static_cast<size_t>(size()));
    impl_->together([&] {
        const auto ranks = static_cast<size_t>(size());
        const std::vector<int64_t> one(ranks, 1);
        std::vector<int64_t> my_length(ranks, static_cast<int64_t>(mine.size())), lengths(ranks);
        const auto count = static_cast<int64_t>(ranks);
        impl_->alltoall(view_of(my_length.data(), count, at::kLong),
                        view_of(lengths.data(), count, at::kLong), {one, one},
                        patience == Patience::endless ? kEndless : impl_->timeout);
        if (sum_of(lengths) == 0) return;
        std::string sent, received(static_cast<size_t>(sum_of(lengths)), '\0');
        for (size_t r = 0; r < ranks; ++r) sent += mine;
        impl_->alltoall(view_of(sent.data(), static_cast<int64_t>(sent.size()), at::kByte),
                        view_of(received.data(), static_cast<int64_t>(received.size()), at::kByte),
                        {my_length, lengths}, impl_->timeout);
        size_t at = 0;
        for (size_t r = 0; r < ranks; at += static_cast<size_t>(lengths[r++]))
            all[r] = received.substr(at, static_cast<size_t>(lengths[r]));
    });
    return all;
}

std::string RankGroup::broadcast(const std::string& from_leader, Patience patience) {
    std::string text = impl_->leads() ? from_leader : "";
    const Milliseconds limit = patience == Patience::endless ? kEndless : impl_->timeout;
    impl_->together([&] {
        auto length = static_cast<int64_t>(text.size());
        impl_->broadcast(view_of(&length, 1, at::kLong), limit);
        text.resize(static_cast<size_t>(length));
        if (length > 0) impl_->broadcast(view_of(text.data(), length, at::kByte), impl_->timeout);
    });
    return text;
}

void RankGroup::broadcast(std::span<char> bytes) {
    if (bytes.empty()) return;
    impl_->together([&] {
        impl_->broadcast(view_of(bytes.data(), static_cast<int64_t>(bytes.size()), at::kByte),
                         impl_->timeout);
    });
}

void RankGroup::exchange(const RankBlocks& in, const RankBlocks& out, GpuLink* between_gpus) {
    impl_->together([&] {
        if (between_gpus != nullptr) return between_gpus->exchange(in, out, impl_->timeout);
        impl_->alltoall(view_of(in.data, sum_of(in.counts), at::kFloat),
                        view_of(out.data, sum_of(out.counts), at::kFloat), {in.counts, out.counts},
                        impl_->timeout);
    });
}

void RankGroup::leave(const std::string& words) {
    if (impl_->is_broken.exchange(true)) return;
    impl_->problem = words;
    static_cast<void>(
        error_words([&] { impl_->store->set(fmt::format("left/{}", rank()), bytes_of(words)); }));
    impl_->gloo.reset();  // closes the connections: the others notice at once
}

}  // namespace aft
