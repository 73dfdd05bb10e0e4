#include "app/host/number_note.h"

#include <nlohmann/json.hpp>

#include "app/state/view_file.h"
#include "core/json.h"

namespace aft::app {

std::string number_note(const PaneContext& ui, const viz::NumberSink& numbers) {
    SavedView view = view_of(ui);
    view.step = ui.shown_weights();  // also where the views are live: that of the maps
    nlohmann::json note = parse_json(view_text(view), {.file = "note.json"});
    nlohmann::json& of = note["numbers"];
    of["run"] = view.model;
    of["step"] = view.step;
    of["live"] = ui.selection.step < 0;
    of["quantity"] = quantity_option(ui.selection.quantity);
    of["gauge"] = gauge_option(ui.selection.gauge);
    of["commands"] = numbers.commands;
    for (const NumberTable& table : numbers.tables()) {
        nlohmann::json& one = of["tables"][table.name];
        one["shape"] = table.shape;
        if (!table.columns.empty()) one["columns"] = table.columns;
    }
    return json_text(note, 2) + "\n";
}

}  // namespace aft::app
