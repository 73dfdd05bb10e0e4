#include "app/frame/data_location.h"

#include <filesystem>

#include "core/data_spec.h"

namespace aft::app {

namespace fs = std::filesystem;

void choose_data(PaneContext& ui, const std::string& path) {
    if (ui.session == nullptr) return;
    DataSpec place = split_data_spec(ui.status.config.data.source);
    // What the model itself says stays the key, however often another place was tried.
    std::string key = place.path;
    for (const auto& [said, chosen] : ui.settings.data_locations)
        if (chosen == place.path) key = said;
    std::error_code ignored;
    place.path = fs::absolute(path, ignored).lexically_normal().string();
    ui.settings.data_locations[key] = place.path;
    ui.commands.send(SetSetting{"data.source", place.text()});
    ui.want_frames(3);
}

bool use_remembered_data(PaneContext& ui) {
    DataSpec place = split_data_spec(ui.status.config.data.source);
    const auto found = ui.settings.data_locations.find(place.path);
    std::error_code ignored;
    if (place.path.empty() || found == ui.settings.data_locations.end() ||
        fs::exists(place.path, ignored) || !fs::exists(found->second, ignored))
        return false;
    place.path = found->second;
    ui.commands.send(SetSetting{"data.source", place.text()});
    return true;
}

std::string why_not_choose_data(const ModelView& ui) {
    if (ui.session == nullptr || !ui.has_model()) return "No model is open.";
    const std::string& source = ui.status.config.data.source;
    if (source.empty()) return "This model names no data.";
    if (split_data_spec(source).path.empty())
        return "The data of this model are made by the program itself.";
    return ui.status.state == RunState::running && !ui.status.following
               ? "Training uses these data now."
               : "";
}

void add_data_actions(Actions& actions) {
    actions.add({.id = "file.choose_data",
                 .name = "Choose the data folder...",
                 .sentence = "Says where the data of the open model lie on this machine.",
                 .icon = icon::folder,
                 .menu = "File",
                 .why_not = why_not_choose_data,
                 .run = [](PaneContext& ui) { ui.commands.send(BrowseFiles{.for_data = true}); }});
    actions.add(
        {.id = "file.reread_sample",
         .name = "Read the sample again",
         .sentence = "Tries again to read the picture or text, from its file or from the data.",
         .icon = icon::refresh,
         .why_not =
             [](const ModelView& ui) { return ui.session == nullptr ? "No model is open." : ""; },
         .run =
             [](ViewState& ui) {
                 ui.session->items().reload();
                 ui.selection.image.error.clear();
             }});
}

}  // namespace aft::app
