#include "app/frame/data_location.h"

#include "app/state/data_locations.h"
#include "core/data_spec.h"

namespace aft::app {

void choose_data(PaneContext& ui, const std::string& path) {
    if (ui.session == nullptr) return;
    SetSetting change;
    change.key = "data.source";
    std::string source = ui.status.config.data.source;
    if (source.empty()) source = ui.status.task.is_text() ? "text:" : "images:";
    change.value = remember_data_location(ui.settings, source, path);
    ui.commands.send(change);
    ui.want_frames(3);
}

bool use_remembered_data(PaneContext& ui) {
    const std::string& said = ui.status.config.data.source;
    SetSetting change;
    change.key = "data.source";
    change.value = data_as_remembered(ui.settings, said);
    if (change.value == said) return false;
    ui.commands.send(change);
    return true;
}

std::string why_not_choose_data(const ModelView& ui) {
    if (ui.session == nullptr || !ui.has_model()) return "No model is open.";
    const std::string& source = ui.status.config.data.source;
    if (source.empty())
        return ui.status.task.is_mixer_alone || ui.status.task.is_bias_alone
                   ? "This model takes no data."
                   : "";
    if (split_data_spec(source).path.empty())
        return "The data of this model are made by the program itself.";
    return ui.status.state == RunState::running && !ui.status.following
               ? "Training uses these data now."
               : "";
}

void add_data_actions(Actions& actions) {
    actions.add(
        {.id = "file.choose_data",
         .name = "Choose the data...",
         .sentence =
             "Says where the data of the open model lie on this machine, or which are meant.",
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
