#include "app/state/change_history.h"

#include <utility>

namespace aft::app {
namespace {

// Parts of one change: of one drag, or in quick succession where the value slides.
bool continues_change(const UserChange& last, const UserChange& next) {
    if (last.of.index() != next.of.index() || last.what != next.what) return false;
    if (std::holds_alternative<NoteChange>(next.of)) return false;
    if (next.press >= 0 && next.press == last.press) return true;
    if (next.time - last.time >= ChangeHistory::kOneDrag) return false;
    const auto* const choice = std::get_if<ChoiceChange>(&next.of);
    return choice == nullptr || (choice->is_slide && next.press < 0 && last.press < 0);
}

}  // namespace

void ChangeHistory::add(UserChange change) {
    if (const auto* one = std::get_if<SettingChange>(&change.of); one && one->before == one->after)
        return;
    changes_.resize(now_);
    if (now_ > 0 && continues_change(changes_.back(), change)) {
        UserChange& last = changes_.back();
        if (auto* const one = std::get_if<SettingChange>(&change.of))
            std::get<SettingChange>(last.of).after = std::move(one->after);
        else
            std::get<ChoiceChange>(last.of).after = std::get<ChoiceChange>(change.of).after;
        last.time = change.time;
        return;
    }
    constexpr size_t kMost = 1000;
    if (changes_.size() >= kMost) changes_.erase(changes_.begin());
    changes_.push_back(std::move(change));
    now_ = changes_.size();
}

const UserChange* ChangeHistory::next_undo() const {
    return now_ > 0 ? &changes_[now_ - 1] : nullptr;
}

const UserChange* ChangeHistory::next_redo() const {
    return now_ < changes_.size() ? &changes_[now_] : nullptr;
}

std::optional<UserChange> ChangeHistory::undo() {
    if (next_undo() == nullptr) return std::nullopt;
    UserChange change = changes_[--now_];
    if (auto* const setting = std::get_if<SettingChange>(&change.of))
        std::swap(setting->before, setting->after);
    if (auto* const choice = std::get_if<ChoiceChange>(&change.of))
        std::swap(choice->before, choice->after);
    if (auto* const note = std::get_if<NoteChange>(&change.of))
        std::swap(note->before, note->after);
    return change;
}

std::optional<UserChange> ChangeHistory::redo() {
    if (next_redo() == nullptr) return std::nullopt;
    return changes_[now_++];
}

std::optional<Undoable> ChangeHistory::see(const Undoable& now) {
    return std::exchange(seen_, now);
}

}  // namespace aft::app
