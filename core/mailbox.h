// Mailbox: one slot, latest wins, between two threads. The lock is held for a pointer swap only.
#pragma once
#include <memory>
#include <mutex>
#include <utility>

namespace aft {

template <class T>
class Mailbox {
  public:
    void publish(std::shared_ptr<const T> value) {
        std::shared_ptr<const T> old;  // destroyed after the lock is released
        const std::lock_guard lock(mutex_);
        old = std::exchange(slot_, std::move(value));
    }
    [[nodiscard]] std::shared_ptr<const T> latest() const {
        const std::lock_guard lock(mutex_);
        return slot_;
    }

  private:
    mutable std::mutex mutex_;
    std::shared_ptr<const T> slot_;
};

}  // namespace aft
