#include "app/panels/shared/set_by_hand.h"

#include <utility>

#include "app/state/undo_notes.h"

namespace aft::app {

void set_by_hand(PaneContext& ui, const std::string& key, std::string before, std::string after) {
    ui.commands.send(SetSetting{key, after});
    ui.selection.changes.add({.of = SettingChange{key, std::move(before), std::move(after)},
                              .what = key,
                              .time = ui.time,
                              .press = press_time()});
}

}  // namespace aft::app
