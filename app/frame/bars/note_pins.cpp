#include "app/frame/bars/note_pins.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/state/step_notes.h"
#include "app/widgets/buttons.h"
#include "app/widgets/text.h"
#include "app/widgets/tooltip.h"
#include "core/text.h"

namespace aft::app {
namespace {

bool is_stored(const ModelView& ui, int64_t step) {
    return std::find(ui.history.begin(), ui.history.end(), step) != ui.history.end();
}

}  // namespace

std::optional<int64_t> draw_note_pins(PaneContext& ui, const TimelineTrack& track) {
    ImDrawList* draw = ImGui::GetWindowDrawList();
    std::optional<int64_t> menu;
    for (const auto& [step, words] : ui.step_notes) {
        const float x = std::round(track.x(static_cast<double>(step)));
        const ImVec2 middle(x, track.a.y + ui.px(8));
        draw->AddRectFilled({x, track.a.y + ui.px(8)}, {x + 1, track.b.y},
                            with_alpha(ui.theme.text1, 0.6F));
        draw->AddCircleFilled(middle, ui.px(8), ui.theme.bar);
        icon_at(ui, middle, icon::text, {14, ui.theme.text1});
        ImGui::SetCursorScreenPos({x - ui.px(8), track.a.y});
        const WidgetPath path = ui.recorder.claim(fmt::format("Note {0}##note_{0}", step));
        ImGui::SetNextItemAllowOverlap();
        const bool has_moment = is_stored(ui, step);
        if (ImGui::InvisibleButton(path.id.c_str(), {ui.px(16), ui.px(16)})) {
            if (has_moment)
                ui.selection.step = step;
            else
                ui.note_asked = step;
        }
        if (ImGui::IsItemClicked(ImGuiMouseButton_Right)) menu = step;
        ui.recorder.item("pin", path, words);
        tooltip(ui, {.name = fmt::format("Note at step {}", group_thousands(step)),
                     .sentence = words + (has_moment ? "" : "\nNo moment is stored there.")});
    }
    return menu;
}

bool draw_note_rows(Ui& ui, int64_t step) {
    const bool has_note = ui.step_notes.contains(step);
    if (button(ui, {.name = {has_note ? "Change the note..." : "Add note here...", "note_here"},
                    .icon = icon::text,
                    .kind = ButtonKind::ghost,
                    .tip = "Writes a note at this step, also where no moment is stored."})) {
        ui.note_asked = step;
        return true;
    }
    if (!has_note) return false;
    const bool is_removed = button(ui, {.name = "Remove note##remove_note",
                                        .icon = icon::trash,
                                        .kind = ButtonKind::ghost,
                                        .tip = "Takes it off the timeline; Undo brings it back."});
    if (is_removed) set_step_note(ui, step, "");
    return is_removed;
}

int64_t step_at(const PaneContext& ui, const TimelineTrack& track, float x) {
    const double wide = std::max(1.0F, track.b.x - track.a.x);
    const double wanted = std::clamp(static_cast<double>(x) / wide * track.last, 0.0,
                                     static_cast<double>(std::max<int64_t>(0, ui.status.step)));
    int64_t out = std::llround(wanted);
    double nearest = ui.px(4) / wide * track.last;
    const auto take = [&](int64_t step) {
        const double away = std::abs(static_cast<double>(step) - wanted);
        if (away > nearest) return;
        nearest = away;
        out = step;
    };
    for (const int64_t step : ui.history) take(step);
    for (const auto& [step, text] : ui.step_notes) take(step);
    return out;
}

}  // namespace aft::app
