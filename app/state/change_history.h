// ChangeHistory: changes of live settings, of notes at steps and of what is Undoable (how maps are
// drawn, sampling, the pinned batch, Compare), in the order in which they were made, to take back
// and do again. A drag is one change. Of one run: another one begins anew. Window thread.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "app/state/undoable.h"

namespace aft::app {

struct SettingChange {
    std::string key, before, after;
};
struct ChoiceChange {
    Undoable before, after;
    bool is_slide = false;  // of a number that drags and keys change little by little
};
struct NoteChange {
    int64_t step = 0;
    std::string before, after;  // "" = there is none
};

struct UserChange {
    std::variant<SettingChange, ChoiceChange, NoteChange> of;
    // "train.clip", "range, at layer 3", "top-p", "note at step 7": as the screen says.
    std::string what{};
    double time = 0;    // of the window's clock, seconds
    double press = -1;  // when the mouse button went down by which it is made; -1 = none is
};

class ChangeHistory {
  public:
    static constexpr double kOneDrag = 1;  // seconds between two parts of one change

    void add(UserChange change);
    // What would be taken back or done again next; nullptr where there is nothing.
    [[nodiscard]] const UserChange* next_undo() const;
    [[nodiscard]] const UserChange* next_redo() const;
    // The same, taken: what is set next is its `after`.
    [[nodiscard]] std::optional<UserChange> undo();
    [[nodiscard]] std::optional<UserChange> redo();

    // What is chosen now; returns what was at the last call, if that is known.
    std::optional<Undoable> see(const Undoable& now);
    // The next change of it is nobody's: a view was opened, say.
    void forget_choices() { seen_.reset(); }
    // To note there, too, what the program has changed by itself; nullptr: nothing is known.
    [[nodiscard]] Undoable* seen() { return seen_ ? &*seen_ : nullptr; }

  private:
    std::vector<UserChange> changes_;
    size_t now_ = 0;  // changes that hold
    std::optional<Undoable> seen_;
};

}  // namespace aft::app
