// Toasts: short messages at the right, above the timeline. Errors stay until they are closed.
// Window thread.
#pragma once
#include <functional>
#include <string>
#include <vector>

namespace aft::app {

struct Ui;
enum class ToastKind { done, info, warning, error };

struct Toast {
    ToastKind kind = ToastKind::info;
    std::string title{}, detail{};
    std::string action{};            // words of its one action; "" = none
    std::function<void(Ui&)> run{};  // what the action does
    double born = -1;                // seconds of Ui::time; set when first drawn
};

inline constexpr const char* kNotOpened = "Not opened";  // the title, where a path cannot be
inline constexpr double kToastSeconds = 5;               // that one is shown; an error stays

class Toasts {
  public:
    // Newest last; at most three are shown, the same title replaces the old one.
    void add(Toast toast);
    // At each frame: true if one is shown for the first time. Those that had their time go.
    bool update(double now);
    void close(size_t shown);  // by its place among those shown
    [[nodiscard]] const std::vector<Toast>& shown() const { return shown_; }
    // For bell and log.
    [[nodiscard]] const std::vector<Toast>& history() const { return history_; }
    [[nodiscard]] size_t added() const { return added_; }  // of which history() has the newest
    [[nodiscard]] int unread_errors() const { return unread_errors_; }
    void mark_read() { unread_errors_ = 0; }

  private:
    std::vector<Toast> shown_, history_;
    size_t added_ = 0;
    int unread_errors_ = 0;
};

}  // namespace aft::app
