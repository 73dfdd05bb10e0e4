// Settings that a room declares for itself: a mixer's window, a task's own number. A plain struct
// with `void visit(SettingRows& rows)` in the room's file says key ("model.window"), default, help
// and range, one row each; the room names it in its entry (`.visit = visit_settings<Own>`), and
// reads it back with `model.own.read<Own>()`. A task's settings of the training ("train.*") are the
// same in its `.visit_training` and `train.own`. From then on the key is in --set, JSON configs,
// checkpoints and the window like every other. Rooms that share a setting declare the same row. No
// LibTorch. Any thread, no state.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <variant>

#include "core/settings.h"

namespace aft {

class RoomSettings {
  public:
    using Value = std::variant<int64_t, double, bool, std::string>;

    // By the key without its group: own["window"] = 3. What is not set has its room's default.
    Value& operator[](const std::string& name) { return values_[name]; }
    [[nodiscard]] bool operator==(const RoomSettings&) const = default;

    template <class Own>
    [[nodiscard]] Own read() const {
        Own own;
        SettingRows rows;
        own.visit(rows);
        load(rows);
        return own;
    }
    // Lets the row point at the value kept here, which is what the row pointed at if it is new.
    void keep(Setting& row);

  private:
    void load(SettingRows& rows) const;
    std::map<std::string, Value> values_;
};

// Adds the rows of a struct of settings, pointing into `values`; a key that another room has
// declared already is left out.
using RoomVisit = void (*)(RoomSettings& values, SettingRows& rows);
void add_rows(RoomSettings& values, SettingRows& declared, SettingRows& rows);

template <class Own>
void visit_settings(RoomSettings& values, SettingRows& rows) {
    Own standard;
    SettingRows declared;
    standard.visit(declared);
    add_rows(values, declared, rows);
}

}  // namespace aft
