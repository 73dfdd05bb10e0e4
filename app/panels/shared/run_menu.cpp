#include "app/panels/shared/run_menu.h"

#include <imgui_internal.h>

#include <fmt/format.h>

#include <algorithm>

#include "app/state/open_path.h"
#include "app/state/overlay_choice.h"
#include "app/widgets/buttons.h"
#include "app/widgets/combo.h"
#include "app/widgets/text.h"
#include "app/widgets/text_fields.h"
#include "app/widgets/tooltip.h"

namespace aft::app {

namespace {

constexpr float kFieldWidth = 240;

// True while its popup is open. `id`: without blanks and capitals.
bool more_button(DrawContext& ui, const std::string& id, const char* tip, ImVec2 at) {
    const ImVec2 before = ImGui::GetCursorScreenPos();
    ImGui::SetCursorScreenPos(at);
    if (button(ui, {.name = {"More", "more/" + id},
                    .icon = icon::more,
                    .kind = ButtonKind::icon,
                    .tip = tip}))
        ImGui::OpenPopup(("more of " + id).c_str());
    ImGui::SetCursorScreenPos(before);
    return ImGui::IsPopupOpen(("more of " + id).c_str());
}

struct NoteField {
    WidgetName name;
    std::string hint;
    const char* tip;
};

void note_field(DrawContext& ui, const NoteField& spec, std::string& text) {
    label_column(ui, spec.name.words, 60);
    (void)text_field(
        ui, {.name = spec.name, .hint = spec.hint, .width = kFieldWidth, .tip = spec.tip}, text);
}

void compare_item(PaneContext& ui, const std::string& path, bool is_sweep) {
    CompareChoice& compare = ui.selection.compare;
    const bool is_full = compare.slots.size() >= CompareChoice::kMostSlots;
    if (!button(ui, {.name = "Compare with this run##compare_run",
                     .icon = icon::compare,
                     .kind = ButtonKind::ghost,
                     .why_not = is_sweep  ? "A sweep is no run: open it, and compare its runs."
                                : is_full ? "Four slots are compared at most."
                                          : "",
                     .tip = "Sets it beside what is open, in Compare."}))
        return;
    if (compare.slots.empty() && ui.session != nullptr) (void)compare.add({});
    (void)compare.add({.path = path});
    compare.other = std::max<size_t>(2, compare.slots.size()) - 1;
    ui.commands.send(ShowWorkspace{Workspace::compare});
    ImGui::CloseCurrentPopup();
}

void overlay_item(PaneContext& ui, const std::string& path, bool is_sweep) {
    const bool is_on = is_overlaid(ui, path);
    if (!button(ui, {.name = "Overlay in Train##overlay_run",
                     .icon = icon::chart,
                     .kind = ButtonKind::ghost,
                     .why_not = is_sweep ? "A sweep is no run: open it, and overlay its runs."
                                         : why_no_overlay(ui, path),
                     .tip = "Draws its curves with those of the open run, in Train.",
                     .shown = is_on ? "Remove from Train's plots" : "Overlay in Train"}))
        return;
    toggle_overlay(ui, path);
    if (!is_on) {
        ui.commands.send(ShowWorkspace{Workspace::train});
        ui.commands.send(ShowPane{"curves"});
    }
    ImGui::CloseCurrentPopup();
}

}  // namespace

void run_menu(PaneContext& ui, const RecentItem& item, ImVec2 at) {
    if (!more_button(ui, item.path,
                     "Name, tag and note of this run; compare, overlay or forget it.", at))
        return;
    const PopupScope popup(ui, ("more of " + item.path).c_str());
    if (!popup.is_open()) return;
    ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(ui.px(8), ui.px(4)));
    RunNotes& notes = ui.settings.notes[item.path];
    const RunNotes before = notes;
    note_field(ui, {"Name##run_name", item.name, "What this run is called here."}, notes.name);
    note_field(ui, {"Tag##run_tag", "baseline", "A word that the filter finds."}, notes.tag);
    note_field(ui, {"Note##run_note", "what was tried", "Shown in its tooltip."}, notes.note);
    if (notes != before) ImGui::MarkIniSettingsDirty();  // saves them soon
    const std::string path = item.path;                  // forgetting it ends the item
    const bool is_sweep = is_sweep_item(item);
    compare_item(ui, path, is_sweep);
    overlay_item(ui, path, is_sweep);
    const bool is_open = ui.has_model() && ui.status.path == path;
    if (button(ui, {.name = "Forget this run##forget_run",
                    .icon = icon::trash,
                    .kind = ButtonKind::ghost,
                    .why_not = is_open ? "It is open." : "",
                    .tip = "Takes it off this list, with its notes. Its files stay."})) {
        ui.settings.forget(path);
        ImGui::CloseCurrentPopup();
    }
    ImGui::PopStyleVar();
}

bool pin_menu(PaneContext& ui, Pin& pin, size_t index, ImVec2 at) {
    const std::string id = fmt::format("pin_{}", index);
    if (!more_button(ui, id, "Names this pin, or removes it.", at)) return true;
    const PopupScope popup(ui, ("more of " + id).c_str());
    if (!popup.is_open()) return true;
    ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(ui.px(8), ui.px(4)));
    note_field(ui, {"Name##pin_name", pin.words, "What stands here, in place of the cell."},
               pin.note);
    const bool is_removed = button(ui, {.name = "Remove pin##remove_pin",
                                        .icon = icon::trash,
                                        .kind = ButtonKind::ghost,
                                        .tip = "Takes it off the list and the timeline."});
    if (is_removed) ImGui::CloseCurrentPopup();
    ImGui::PopStyleVar();
    return !is_removed;
}

void run_tooltip(PaneContext& ui, const std::string& path, const std::string& name) {
    const auto found = ui.settings.notes.find(path);
    std::string words;
    for (const RecentItem& item : ui.settings.recent)
        if (item.path == path && !item.what.empty()) words = item.what + "\n";
    if (found != ui.settings.notes.end())
        for (const std::string& text : {found->second.tag, found->second.note})
            if (!text.empty()) words += text + "\n";
    tooltip(ui, {.name = name, .sentence = words + path});
}

std::string run_tag(const ViewState& ui, const std::string& path) {
    const auto found = ui.settings.notes.find(path);
    return found == ui.settings.notes.end() ? std::string() : found->second.tag;
}

}  // namespace aft::app
