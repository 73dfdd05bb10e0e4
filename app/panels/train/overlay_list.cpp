#include "app/panels/train/overlay_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "app/state/icons.h"
#include "app/state/open_path.h"
#include "app/state/overlay_choice.h"
#include "app/widgets/buttons.h"
#include "app/widgets/combo.h"
#include "app/widgets/text.h"
#include "app/widgets/tooltip.h"
#include "core/text.h"
#include "model/jobs/summary.h"
#include "model/model_files.h"

namespace aft::app {
namespace {

constexpr float kRow = 26, kWide = 420;
constexpr int kMaxVisibleRows = 10;  // before the list scrolls

ImU32 color_of(const OverlayRuns& runs, const std::string& path) {
    for (const OverlayRun& run : runs.all())
        if (is_same_path(run.path, path)) return run.color;
    return 0;
}

// What is wrong with a path that was typed; "" = nothing.
std::string why_no_path(const ViewState& ui, const std::string& path) {
    if (!is_run_folder(path))
        return path + ": not a run folder (no config.json in it); a run's curves are in its folder";
    if (is_overlaid(ui, path)) return path + ": is overlaid already.";
    return why_no_overlay(ui, path);
}

}  // namespace

void OverlayList::draw_row(PaneContext& ui, const OverlayRuns& runs, const std::string& path) {
    const bool is_on = is_overlaid(ui, path);
    const std::string why = why_no_overlay(ui, path);
    const Row line =
        row(ui, WidgetName::data(path), {kRow, is_on, why.empty() ? is_on ? "on" : "off" : why});
    const float middle = (line.min.y + line.max.y) / 2, y = line.min.y + ui.px(4);
    if (is_on)
        ImGui::GetWindowDrawList()->AddRectFilled({line.min.x + ui.px(10), middle - ui.px(5)},
                                                  {line.min.x + ui.px(20), middle + ui.px(5)},
                                                  color_of(runs, path), ui.px(2));
    text_at(ui, {line.min.x + ui.px(30), y}, ui.settings.shown_name_of(path, shown_name(path)),
            {text_size::label, why.empty() ? ui.theme.text1 : ui.theme.text3, Face::regular,
             line.max.x - line.min.x - ui.px(60)});
    if (is_on)
        icon_at(ui, {line.max.x - ui.px(16), middle}, icon::check,
                {text_size::icon_inline, ui.theme.text1});
    tooltip(ui, {.name = shown_name(path), .sentence = why.empty() ? path : why + "\n" + path});
    if (line.pressed) toggle_overlay(ui, path);
}

// A run that no list knows.
void OverlayList::draw_path(PaneContext& ui) {
    const auto take = [&](const std::string& path) {
        std::string why = why_no_path(ui, path);
        if (why.empty()) toggle_overlay(ui, path);
        return why;
    };
    if (path_.draw(ui,
                   {.field = "Path##path",
                    .hint = "Run folder",
                    .icon = icon::folder,
                    .tip = "The folder of a run that the list does not have.",
                    .button = "Add path##add_path",
                    .shown = "Add",
                    .button_tip = "Draws the curves of this run too.",
                    .problem = "Path problem##path_problem",
                    .width = kWide - 80},
                   take))
        path_.clear();
}

void OverlayList::draw_list(PaneContext& ui, const OverlayRuns& runs) {
    // Below the button, also when a key or the palette opened it.
    ImGui::SetNextWindowPos({ImGui::GetItemRectMin().x, ImGui::GetItemRectMax().y + ui.px(4)},
                            ImGuiCond_Appearing);
    const PopupScope popup(ui, "overlay runs");
    if (!popup.is_open()) return;
    std::vector<std::string> paths = known_.paths(ui);
    for (const std::string& path : ui.overlays)  // of a view file, say
        if (std::none_of(paths.begin(), paths.end(),
                         [&](const std::string& other) { return is_same_path(other, path); }))
            paths.push_back(path);
    std::erase_if(paths, [&](const std::string& path) {
        return is_same_path(path, ui.status.path) || is_checkpoint_file(path);
    });
    ImGui::Dummy({ui.px(kWide), ui.px(2)});
    ImGui::Indent(ui.px(8));
    text(ui,
         paths.empty() ? "No other run is known: type the folder of one, or train another."
                       : fmt::format("Runs to draw with this one, {} at most", kMostOverlays),
         {text_size::hint, ui.theme.text3});
    ImGui::Unindent(ui.px(8));
    const float rows = float(std::min<int>(kMaxVisibleRows, int(paths.size())));
    ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(ImGui::GetStyle().ItemSpacing.x, 0));
    if (!paths.empty() &&
        ImGui::BeginChild("rows", {ui.px(kWide), rows * ui.px(kRow)}, ImGuiChildFlags_NavFlattened))
        for (const std::string& path : paths) draw_row(ui, runs, path);
    if (!paths.empty()) ImGui::EndChild();
    ImGui::PopStyleVar();
    draw_path(ui);
    if (button(ui, {.name = "Remove all overlays##remove_overlays",
                    .icon = icon::close,
                    .kind = ButtonKind::ghost,
                    .why_not = ui.overlays.empty() ? "No run is overlaid." : "",
                    .tip = "Draws the open run alone."}))
        ui.overlays.clear();
}

void OverlayList::draw(PaneContext& ui, const OverlayRuns& runs, bool is_tight) {
    const bool is_pressed =
        button(ui, {.name = "Overlay runs...##overlay_runs",
                    .icon = icon::compare,
                    .kind = is_tight ? ButtonKind::icon : ButtonKind::ghost,
                    .tip = "Draws the curves of other runs with those of the open one.",
                    .selected = !ui.overlays.empty(),
                    .shown = ui.overlays.empty()
                                 ? "Overlay runs..."
                                 : fmt::format("Overlay runs... ({})", ui.overlays.size())});
    if (is_pressed || std::exchange(opens_, false)) {
        known_.look();
        ImGui::OpenPopup("overlay runs");
    }
    if (known_.is_looking()) ui.want_frame_at(ui.time + 0.05);
    draw_list(ui, runs);
}

void OverlayList::open_menu(int64_t step) {
    opens_menu_ = true;
    menu_step_ = step;
}

void OverlayList::draw_menu(Ui& ui) {
    if (std::exchange(opens_menu_, false)) ImGui::OpenPopup("plot menu");
    const PopupScope popup(ui, "plot menu");
    if (!popup.is_open()) return;
    ui.recorder.set_section("Menu##menu");
    for (const char* const action : {"train.overlay_runs", "file.export_metrics"})
        if (action_button(ui, action, ButtonKind::ghost)) ImGui::CloseCurrentPopup();
    if (button(ui, {.name = "Note at this step...##note_at",
                    .icon = icon::text,
                    .kind = ButtonKind::ghost,
                    .tip = "Writes a note at the step under the pointer.",
                    .shown = "Note at step " + group_thousands(menu_step_) + "..."})) {
        ui.note_asked = menu_step_;
        ImGui::CloseCurrentPopup();
    }
    ui.recorder.set_section("Plots##plots");
}

}  // namespace aft::app
