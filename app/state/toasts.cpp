#include "app/state/toasts.h"

#include <utility>

namespace aft::app {

namespace {

constexpr size_t kMost = 3;

}  // namespace

void Toasts::add(Toast toast) {
    std::erase_if(shown_, [&](const Toast& old) { return old.title == toast.title; });
    if (toast.kind == ToastKind::error) ++unread_errors_;
    history_.push_back(toast);
    ++added_;
    if (history_.size() > 200) history_.erase(history_.begin());
    shown_.push_back(std::move(toast));
    if (shown_.size() > kMost) shown_.erase(shown_.begin());
}

bool Toasts::update(double now) {
    bool has_new = false;
    for (Toast& toast : shown_)
        if (toast.born < 0) toast.born = now, has_new = true;
    std::erase_if(shown_, [&](const Toast& toast) {
        return toast.kind != ToastKind::error && now - toast.born > kToastSeconds;
    });
    return has_new;
}

void Toasts::close(size_t shown) {
    shown_.erase(shown_.begin() + std::ptrdiff_t(shown));
}

}  // namespace aft::app
