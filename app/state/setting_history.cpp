#include "app/state/setting_history.h"

#include <utility>

namespace aft::app {

void SettingHistory::add(SettingChange change) {
    if (change.before == change.after) return;
    changes_.resize(now_);
    SettingChange* const last = changes_.empty() ? nullptr : &changes_.back();
    if (last != nullptr && last->key == change.key && change.time - last->time < kOneDrag) {
        last->after = std::move(change.after);
        last->time = change.time;
        return;
    }
    constexpr size_t kMost = 1000;
    if (changes_.size() >= kMost) changes_.erase(changes_.begin());
    changes_.push_back(std::move(change));
    now_ = changes_.size();
}

std::optional<SettingChange> SettingHistory::undo() {
    if (!can_undo()) return std::nullopt;
    const SettingChange& change = changes_[--now_];
    return SettingChange{change.key, change.after, change.before};
}

std::optional<SettingChange> SettingHistory::redo() {
    if (!can_redo()) return std::nullopt;
    return changes_[now_++];
}

}  // namespace aft::app
