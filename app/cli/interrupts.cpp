#include "app/cli/interrupts.h"

#include <fmt/format.h>
#include <pthread.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>

namespace aft::app {

Interrupts::Interrupts() {
    sigemptyset(&signals_);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&signals_, signal);
    pthread_sigmask(SIG_BLOCK, &signals_, &before_);
    watcher_ = std::jthread([this](const std::stop_token& end) { watch(end); });
}

Interrupts::~Interrupts() {
    watcher_.request_stop();
    pthread_kill(watcher_.native_handle(), SIGTERM);  // wakes sigwait, is consumed by it
    watcher_.join();
    // Once asked to stop the program is about to end with 130: another signal must not turn that
    // into a death by signal.
    if (!source_.stop_requested()) pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

void Interrupts::watch(const std::stop_token& end) {
    using Clock = std::chrono::steady_clock;
    constexpr std::chrono::seconds kSame{1};
    Clock::time_point first;
    while (true) {
        int signal = 0;
        if (sigwait(&signals_, &signal) != 0 || end.stop_requested()) return;
        if (source_.stop_requested()) {
            // timeout(1) and batch systems signal the process and its group: that is one request.
            if (Clock::now() - first < kSame) continue;
            _exit(130);
        }
        first = Clock::now();
        if (isatty(STDERR_FILENO) != 0) {
            fmt::print(stderr, "\nstopping and saving; once more to quit at once\n");
        }
        source_.request_stop();
    }
}

}  // namespace aft::app
