#include "app/panels/shared/set_by_hand.h"

#include <utility>

namespace aft::app {

void set_by_hand(PaneContext& ui, const std::string& key, std::string before, std::string after) {
    ui.commands.send(SetSetting{key, after});
    ui.selection.settings.add({key, std::move(before), std::move(after), ui.time});
}

}  // namespace aft::app
