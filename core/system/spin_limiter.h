// Limits the busy-waiting of OpenMP's threads while other programs use the cores. They spin up to
// 300,000 turns at a barrier: on idle cores that saves waking them, on shared ones they take the
// cores from the threads they wait for. demo-mirror on 2 cores, steps in 6 s: alone 350; two such
// runs beside each other 75 each, 145 each where spins are short; beside another program's busy
// thread 75 and 131. What a virtual machine's host takes does not count: waking a thread is slow
// then (16 to 100 us were seen, and 62 to 191 steps in 8 s with spins of 3,000 turns where 300,000
// made 383 to 400).
#pragma once
#include <functional>
#include <thread>

namespace aft {

// While it lives, a thread reads the foreign CPU load twice a second; from kBusy on spins are
// short, until it is below kQuiet. One in a process.
class SpinLimiter {
  public:
    static constexpr double kBusy = 0.15, kQuiet = 0.05;  // of these cores

    SpinLimiter();
    // For tests: `share` gives what others take, 0..1, since it was last asked.
    SpinLimiter(std::function<double()> share, double seconds_between);

  private:
    std::jthread watch_;
};

}  // namespace aft
