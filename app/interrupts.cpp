#include "app/interrupts.h"

#include <fmt/format.h>
#include <pthread.h>
#include <unistd.h>

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
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

void Interrupts::watch(const std::stop_token& end) {
    while (true) {
        int signal = 0;
        if (sigwait(&signals_, &signal) != 0 || end.stop_requested()) return;
        if (source_.stop_requested()) _exit(130);
        if (isatty(STDERR_FILENO) != 0) {
            fmt::print(stderr, "\nstopping and saving; once more to quit at once\n");
        }
        source_.request_stop();
    }
}

}  // namespace aft::app
