#include "app/frame/warnings.h"

#include <algorithm>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "app/state/ui.h"

namespace aft::app {

struct Warnings::WarningQueue {
    std::mutex mutex;
    std::vector<std::string> waiting;
};

Warnings::Warnings() : box_(std::make_shared<WarningQueue>()) {
    before_ = set_warning_sink([box = box_](const std::string& text) {
        const std::lock_guard lock(box->mutex);
        box->waiting.push_back(text);
    });
}

Warnings::~Warnings() {
    (void)set_warning_sink(std::move(before_));
}

void Warnings::report(Ui& ui) {
    std::vector<std::string> texts;
    {
        const std::lock_guard lock(box_->mutex);
        texts.swap(box_->waiting);
    }
    for (const std::string& text : texts) {
        // Toasts of one title replace each other: what it is about is the title.
        const size_t colon = std::min(text.find(": "), text.size());
        ui.toasts.add({.kind = ToastKind::warning,
                       .title = text.substr(0, colon),
                       .detail = colon < text.size() ? text.substr(colon + 2) : ""});
        ui.say("warning", text);
    }
}

}  // namespace aft::app
