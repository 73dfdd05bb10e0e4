// Ctrl-C, SIGTERM and a closed terminal as a std::stop_token: the first asks the work to save and
// stop, another one after more than a second ends the program at once with 130. Make one on the
// main thread before any other thread is started (initialize_model starts some): they inherit the
// blocked signals.
#pragma once
#include <csignal>
#include <stop_token>
#include <thread>

namespace aft::app {

class Interrupts {
  public:
    Interrupts();
    ~Interrupts();
    Interrupts(const Interrupts&) = delete;
    Interrupts& operator=(const Interrupts&) = delete;

    // A std::stop_callback on it runs on the watching thread: it must return at once.
    [[nodiscard]] std::stop_token token() const { return source_.get_token(); }

  private:
    void watch(const std::stop_token& end);

    sigset_t signals_{}, before_{};
    std::stop_source source_;
    std::jthread watcher_;
};

}  // namespace aft::app
