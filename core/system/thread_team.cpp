#include "core/system/thread_team.h"

#include <immintrin.h>
#include <sched.h>

#include "core/system/flush_to_zero.h"

namespace aft {

namespace {

constexpr int kSpins = 1500;  // some 20 microseconds
constexpr int kYields = 200;  // then asleep, where that is possible

}  // namespace

ThreadTeam::ThreadTeam(int64_t threads) {
    for (int64_t i = 1; i < threads; ++i) others_.emplace_back([this, i] { serve(i); });
}

ThreadTeam::~ThreadTeam() {
    ends_ = true;
    call_.fetch_add(1, std::memory_order_release);
    call_.notify_all();
}

void ThreadTeam::serve(int64_t thread) {
    const ScopedFlushToZero flush;
    uint32_t seen = 0;
    while (true) {
        for (int i = 0; call_.load(std::memory_order_acquire) == seen; ++i) {
            if (i < kSpins)
                _mm_pause();
            else if (i < kSpins + kYields)
                std::this_thread::yield();
            else
                call_.wait(seen, std::memory_order_acquire);
        }
        ++seen;
        if (ends_) return;
        (*work_)(thread);
        arrive();
    }
}

// A sense-reversing barrier: the last to arrive opens the next phase.
void ThreadTeam::arrive() {
    const uint32_t phase = phase_.load(std::memory_order_acquire);
    const auto all = static_cast<uint32_t>(others_.size()) + 1;
    if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == all) {
        arrived_.store(0, std::memory_order_relaxed);
        phase_.store(phase + 1, std::memory_order_release);
        return;
    }
    for (int i = 0; phase_.load(std::memory_order_acquire) == phase; ++i) {
        if (i < kSpins) {
            _mm_pause();
            continue;
        }
        if (i == kSpins) leave_callers_core();
        std::this_thread::yield();
    }
}

// The system wakes a thread on its caller's core and may leave the two there in turns beside an
// idle core: each barrier then costs a time slice, and a token takes fifteen times as long.
void ThreadTeam::leave_callers_core() const {
    if (std::this_thread::get_id() == caller_) return;
    const int here = sched_getcpu();
    if (here < 0 || here != caller_cpu_.load(std::memory_order_relaxed)) return;
    cpu_set_t allowed, others;
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0 || CPU_COUNT(&allowed) < 2) return;
    others = allowed;
    CPU_CLR(here, &others);
    if (CPU_COUNT(&others) > 0 && sched_setaffinity(0, sizeof others, &others) == 0)
        sched_setaffinity(0, sizeof allowed, &allowed);  // moved: free again
}

void ThreadTeam::barrier() {
    if (!is_alone_) arrive();
}

void ThreadTeam::run(Members members, const std::function<void(int64_t)>& work) {
    const ScopedFlushToZero flush;
    is_alone_ = members == Members::caller || size() == 1;
    if (is_alone_) return work(0);
    work_ = &work;
    caller_ = std::this_thread::get_id();
    caller_cpu_.store(sched_getcpu(), std::memory_order_relaxed);
    call_.fetch_add(1, std::memory_order_release);
    call_.notify_all();
    work(0);
    arrive();
}

int64_t ThreadChoice::threads() const {
    return one_ != trying() ? 1 : all_;
}

void ThreadChoice::record(double seconds, int64_t rows) {
    if (all_ == 1) return;
    (trying() ? tried_ : stayed_) += seconds / static_cast<double>(rows);
    const int64_t stayed = ++token_ - kTry;
    if (stayed <= 0 || stayed % kTry != 0) return;
    const bool slower = stayed_ / static_cast<double>(stayed) > tried_ / kTry;
    if (!slower && stayed < kStay) return;
    if (slower) one_ = !one_;
    token_ = 0;
    tried_ = stayed_ = 0;
}

}  // namespace aft
