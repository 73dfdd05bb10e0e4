// Background: one piece of work at a time in a thread of its own, and its newest answer. Window
// thread; every method returns at once, but the destructor waits for the work.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <thread>
#include <utility>

#include "core/mailbox.h"

namespace aft::app {

template <class Answer>
class Background {
  public:
    // Hands an answer to latest(), perhaps several before the last.
    using Publish = std::function<void(Answer)>;
    using Work = std::function<void(const Publish& publish, const std::stop_token& stop)>;

    // Only where is_busy() is false.
    void start(Work work) {
        const uint64_t stamp = ++started_;
        thread_ = std::jthread([stamp, work = std::move(work), answers = answers_,
                                ended = ended_](const std::stop_token& stop) {
            work(
                [&](Answer answer) {
                    answers->publish(std::make_shared<const Answer>(std::move(answer)));
                },
                stop);
            ended->publish(std::make_shared<const uint64_t>(stamp));
        });
    }
    [[nodiscard]] bool is_busy() const {
        const auto ended = ended_->latest();
        return started_ != (ended ? *ended : 0);
    }
    // Nothing is kept of what was answered, nor of what is still worked at: that is to stop.
    void forget() {
        thread_.request_stop();
        answers_ = std::make_shared<Mailbox<Answer>>();
    }
    [[nodiscard]] std::shared_ptr<const Answer> latest() const { return answers_->latest(); }

  private:
    uint64_t started_ = 0;
    std::shared_ptr<Mailbox<Answer>> answers_ = std::make_shared<Mailbox<Answer>>();
    std::shared_ptr<Mailbox<uint64_t>> ended_ = std::make_shared<Mailbox<uint64_t>>();
    std::jthread thread_;
};

}  // namespace aft::app
