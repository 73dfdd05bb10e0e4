// Compare: two to four moments of models side by side: their maps, what differs between them, which
// head of one is which of the other, their curves and settings.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/panels/compare/compare_actions.h"
#include "app/panels/compare/compare_cards.h"
#include "app/panels/compare/compare_curves.h"
#include "app/panels/compare/compare_layers.h"
#include "app/panels/compare/compare_maps.h"
#include "app/panels/compare/compare_read_out.h"
#include "app/panels/compare/compare_tables.h"
#include "app/panels/compare/compare_tools.h"
#include "app/panels/panel.h"
#include "app/panels/shared/layer_words.h"
#include "app/panels/shared/lock_words.h"
#include "app/panels/shared/model_state.h"
#include "app/widgets/buttons.h"
#include "app/widgets/states.h"
#include "app/widgets/text.h"
#include "core/text.h"

namespace aft::app {
namespace {

// Heights at scale 1: below the first maps and tables share them, below the second they take turns.
constexpr float kTightHeight = 470, kLowHeight = 340;
constexpr float kTightTable = 122, kLeastMaps = 220;

class ComparePanel final : public Panel {
  public:
    void draw(Ui& ui) override;
    void inspector(Ui& ui) override;
    void actions(Actions& actions) override {
        add_compare_actions(actions, [this] { cards_.open_list(); });
    }

  private:
    void draw_compared(PaneContext& ui);
    void draw_reading(PaneContext& ui);
    void draw_both(PaneContext& ui, float height);
    void draw_one(PaneContext& ui, float height);
    void draw_lower(PaneContext& ui, ImVec2 area);
    void draw_table(PaneContext& ui, ImVec2 area);
    void select(ViewState& ui, const Cell& cell);

    CompareSlots slots_;
    MatchedLayers layers_;
    CompareNumbers numbers_;
    ShownMaps shown_;
    CompareCards cards_;
    CompareMaps maps_;
    CompareCurves curves_;
    bool shows_maps_ = true;  // where the height is too low for more than one
};

void ComparePanel::select(ViewState& ui, const Cell& cell) {
    ui.selection.lock(cell);
    if (slots_.at(0).has_bias()) maps_.show(*slots_.at(0).form, cell);
}

void ComparePanel::draw_table(PaneContext& ui, ImVec2 area) {
    std::optional<Cell> pressed;
    switch (static_cast<LowerPart>(ui.selection.compare.lower)) {
        case LowerPart::changes:
            pressed = changes_table(ui, slots_, numbers_);
            break;
        case LowerPart::layers:
            pressed = layers_table(ui, slots_, numbers_);
            break;
        case LowerPart::heads:
            pressed = heads_table(ui, slots_, numbers_);
            break;
        case LowerPart::curves:
            curves_.draw(ui, slots_, area);
            break;
        case LowerPart::settings:
            settings_table(ui, slots_);
            break;
    }
    if (pressed) select(ui, *pressed);
}

void ComparePanel::draw_lower(PaneContext& ui, ImVec2 area) {
    if (ImGui::BeginChild("lower", area))
        draw_table(ui, {ImGui::GetContentRegionAvail().x, area.y - ui.px(4)});
    ImGui::EndChild();
}

// Maps, and below them a table. Where the window is low the table has two rows in view.
void ComparePanel::draw_both(PaneContext& ui, float height) {
    const float wide = ImGui::GetContentRegionAvail().x;
    const float lower = height < ui.px(kTightHeight)
                            ? ui.px(kTightTable)
                            : std::max(ui.px(150), std::floor(height * 0.36F));
    maps_.draw(ui, slots_, shown_, {wide, height - lower - ui.px(8)});
    lower_tools(ui, numbers_words(ui, slots_, numbers_));
    draw_lower(ui, {wide, lower - ui.px(34)});
}

// The maps or a table, each in all of the height.
void ComparePanel::draw_one(PaneContext& ui, float height) {
    lower_tools(ui, numbers_words(ui, slots_, numbers_), &shows_maps_);
    const ImVec2 area = {ImGui::GetContentRegionAvail().x, height - ui.px(34)};
    if (!shows_maps_) return draw_lower(ui, area);
    if (ImGui::BeginChild("compared", area, ImGuiChildFlags_NavFlattened))
        maps_.draw(ui, slots_, shown_,
                   {ImGui::GetContentRegionAvail().x, std::max(area.y, ui.px(kLeastMaps))});
    ImGui::EndChild();
}

// The line at the pane's top; its words stand above the table.
void ComparePanel::draw_reading(PaneContext& ui) {
    const size_t other = ui.selection.compare.other;
    if (other >= slots_.size()) return;
    const int64_t done = numbers_.done(other), all = numbers_.layers(other);
    const auto is_awaited = [](const ComparedSlot& slot) {
        return slot.is_matching || (slot.status == nullptr && slot.error.empty());
    };
    const bool has_no_share = is_awaited(slots_.at(0)) || is_awaited(slots_.at(other));
    if (has_no_share || done < all)
        (void)progress_line(ui, "", has_no_share ? -1 : double(done) / double(all));
}

void ComparePanel::draw_compared(PaneContext& ui) {
    draw_reading(ui);
    if (compare_tools(ui, slots_)) maps_.fit();
    const Status* const named = slots_.at(0).status;
    caption(ui,
            fmt::format("{}, layer {}", quantity_words(ui.selection.quantity),
                        named != nullptr ? layer_words(*named, shown_.layer())
                                         : std::to_string(shown_.layer())),
            compare_caption(ui, slots_, maps_.scale_words()));
    const float height = canvas_height(ui) - ui.px(4);
    const float end = ImGui::GetCursorPosY() + height;
    height < ui.px(kLowHeight) ? draw_one(ui, height) : draw_both(ui, height);
    ImGui::SetCursorPosY(end);
    hover_line(ui, compare_read_out(ui, slots_, shown_),
               lock_words(ui, ui.selection.compare.view == CompareView::split
                                  ? "Drag the line; click locks"
                                  : "Hold H to flicker; click locks"));
}

void ComparePanel::draw(Ui& ui) {
    slots_.update(ui);
    layers_.update(ui, slots_);
    if (slots_.size() == 0) {
        cards_.draw(ui, slots_);  // a slot can be added with nothing open
        slots_.finish(ui);
        (void)no_model_state(ui, Drawing::compare,
                             "Open a run or a checkpoint, then set another one or another step "
                             "beside it.");
        return;
    }
    if (ui.session != nullptr && slots_.size() == 1 && !ui.has_model() &&
        no_model_state(ui, Drawing::compare, "")) {
        slots_.finish(ui);
        return;
    }
    numbers_.update(ui, slots_);
    shown_.update(ui, slots_, numbers_);
    cards_.draw(ui, slots_);
    const bool has_pin = !ui.selection.pins.empty();
    if (slots_.size() < 2)
        empty_state(ui, {.drawing = Drawing::compare,
                         .title = "Nothing to compare",
                         .sentence = "Pin a step with P or add a slot: another step of this run, "
                                     "another run or a checkpoint.",
                         .primary = "compare.add_step",
                         .secondary = "compare.add_slot",
                         .hint = {},
                         .primary_words = has_pin ? "The pinned step" : "Another step",
                         .secondary_words = "Add slot"});
    else
        draw_compared(ui);
    slots_.finish(ui);
    if (numbers_.is_working() || maps_.is_working() || layers_.is_working())
        ui.want_frame_at(ui.time + 0.05);
}

void ComparePanel::inspector(Ui& ui) {
    if (!is_front() || slots_.size() < 2) return;
    compare_inspector(ui, slots_, numbers_, shown_);
}

}  // namespace

PanelRoom compare_panel() {
    return {.info = {"Compare", "Two to four runs, steps or heads side by side."},
            .id = "compare",
            .icon = icon::compare,
            .help =
                "Every slot is a step of a run or a checkpoint. Side by side, flicker (hold "
                "H), split line, difference and ratio show one layer and head of all of them, "
                "at one zoom and in one range; heads are matched by the correlation of their "
                "maps. Below: the largest changes with exact values, the distance of every "
                "layer, the matched heads, the curves, and the settings that differ. A row "
                "selects its place.",
            .places = {{Workspace::compare, Slot::canvas}},
            .make = make_panel<ComparePanel>};
}

}  // namespace aft::app
