#include "core/system/spin_limiter.h"

#include <omp.h>

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <system_error>
#include <utility>

#include "core/system/foreign_cpu_load.h"

namespace aft {

namespace {

// Until it is asked to stop; true then.
bool is_stopped_within(const std::stop_token& stop, double seconds) {
    std::mutex mutex;
    std::condition_variable_any never;
    std::unique_lock lock(mutex);
    return never.wait_for(lock, stop, std::chrono::duration<double>(seconds),
                          [&] { return stop.stop_requested(); });
}

// libgomp throttles spinning to a hundred turns while there are more threads in teams than cores,
// and looks at each wait. So one more team, asleep, makes all others sleep early; it ends with the
// thread that has made it.
void hold_idle_team(const std::stop_token& stop) {
    std::atomic<int> threads = 0;  // something to do, or the team may be left out
#pragma omp parallel num_threads(omp_get_num_procs() + 1)
    ++threads;
    while (!is_stopped_within(stop, 3600)) {
    }
}

std::unique_ptr<std::jthread> started_team() {
    try {
        return std::make_unique<std::jthread>(hold_idle_team);
    } catch (const std::system_error&) {  // no more threads: spins stay as they are
        return nullptr;
    }
}

void watch(const std::stop_token& stop, const std::function<double()>& share, double seconds) {
    std::unique_ptr<std::jthread> team;
    while (!is_stopped_within(stop, seconds)) {
        const double others = share();
        if (others >= SpinLimiter::kBusy && team == nullptr)
            team = started_team();
        else if (others < SpinLimiter::kQuiet)
            team = nullptr;
    }
}

}  // namespace

SpinLimiter::SpinLimiter()
    : SpinLimiter(
          [last = ForeignCpuLoad()]() mutable {
              const ForeignCpuLoad now;
              return std::exchange(last, now).programs(now);
          },
          0.5) {}

SpinLimiter::SpinLimiter(std::function<double()> share, double seconds_between)
    : watch_([share = std::move(share), seconds_between](const std::stop_token& stop) {
          watch(stop, share, seconds_between);
      }) {}

}  // namespace aft
