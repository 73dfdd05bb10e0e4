#include "app/panels/compare/compare_curves.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "app/state/open_path.h"
#include "app/widgets/text.h"
#include "core/text.h"
#include "viz/label_color.h"

namespace aft::app {

namespace {

struct SlotCurve {
    std::string letters, name;  // "A, B": slots of one run share a curve
    const Curves* curves = nullptr;
    const NumberColumn* values = nullptr;
    size_t slot = 0;
};

const std::string& path_of(const PaneContext& ui, const ComparedSlot& slot) {
    return slot.choice.is_open() ? ui.status.path : slot.choice.path;
}

const Curves& curves_of_slot(const PaneContext& ui, const ComparedSlot& slot) {
    return slot.stored ? slot.stored->curves : *ui.curves;
}

// The training loss, and the task's measure of the validation data.
std::string key_of(const ComparedSlot& slot, size_t plot) {
    const TaskTraits& task = slot.status->task;
    return plot == 0 ? task.loss_key() : "validation." + task.metric;
}

std::string unit_of(const ComparedSlot& slot, size_t plot) {
    if (slot.status == nullptr) return "";
    return plot == 0 && !slot.status->task.loss_in_bits ? "nats" : slot.status->metric_words;
}

// Of the slots that are measured in this unit.
std::vector<SlotCurve> slot_curves(const PaneContext& ui, const CompareSlots& slots, size_t plot,
                                   const std::string& unit) {
    std::vector<SlotCurve> out;
    std::vector<std::string> paths;
    for (size_t i = 0; i < slots.size(); ++i) {
        const ComparedSlot& slot = slots.at(i);
        if (slot.status == nullptr || unit_of(slot, plot) != unit) continue;
        const auto same = std::find_if(paths.begin(), paths.end(), [&](const std::string& path) {
            return is_same_path(path, path_of(ui, slot));
        });
        if (same != paths.end()) {
            out[size_t(same - paths.begin())].letters += ", " + slot.letter;
            continue;
        }
        const Curves& curves = curves_of_slot(ui, slot);
        const auto found = curves.columns.find(key_of(slot, plot));
        if (found == curves.columns.end() || found->second.empty()) continue;
        paths.push_back(path_of(ui, slot));
        out.push_back({.letters = slot.letter,
                       .name = slot.name,
                       .curves = &curves,
                       .values = &found->second,
                       .slot = i});
    }
    return out;
}

// Who has no curve here, and why.
std::string missing_words(const PaneContext& ui, const CompareSlots& slots) {
    std::string words;
    for (const ComparedSlot& slot : slots.all()) {
        if (slot.status == nullptr) continue;
        const Curves& curves = curves_of_slot(ui, slot);
        const char* const why =
            curves.step.empty()                           ? " carries no curves"
            : unit_of(slot, 0) != unit_of(slots.at(0), 0) ? " is measured in other units"
            : !curves.columns.contains(key_of(slot, 0))   ? " has not logged its loss"
                                                          : nullptr;
        if (why != nullptr) words += (words.empty() ? "" : "; ") + slot.letter + why;
    }
    return words.empty() ? "" : words + ".";
}

struct DrawnPlot {
    ImVec2 corner;
    Range steps;  // from the left to the right end
    std::string value;
};

// Which slot has its line at which step: behind the title, where no curve runs.
// Returns the words.
std::string draw_marks(const DrawContext& ui, const CompareSlots& slots, const viz::CurvePlot& plot,
                       const DrawnPlot& drawn) {
    const ImVec2 corner = drawn.corner;
    std::string all;
    const float right = corner.x + plot.size.x;
    float x = corner.x + text_extent(ui, plot.title, text_size::label, Face::semibold).x +
              ui.px(8) + text_extent(ui, plot.unit, text_size::hint).x + ui.px(16);
    for (size_t i = 0; i < slots.size(); ++i) {
        const ComparedSlot& slot = slots.at(i);
        const bool has_line =
            double(slot.step) >= drawn.steps.low && double(slot.step) <= drawn.steps.high;
        if (slot.step < 0 || !has_line) continue;
        const std::string words = slot.letter + " at " + group_thousands(slot.step);
        const float wide = text_extent(ui, words, text_size::hint).x;
        if (x + wide > right) break;
        all += "; " + words;
        const ImU32 color = ui.theme.series[i % ui.theme.series.size()];
        text_at(ui, {x, corner.y + ui.px(1)}, words,
                {text_size::hint, viz::label_color(ui.theme, color)});
        x += wide + ui.px(12);
    }
    return all;
}

// Of the item that ends here.
void record_plot(DrawContext& ui, const viz::CurvePlot& view, size_t plot, const DrawnPlot& drawn) {
    ui.recorder.area({.kind = "plot",
                      .path = ui.recorder.claim(
                          {view.title, plot == 0 ? "training_curves" : "validation_curves"}),
                      .min = drawn.corner,
                      .max = ImGui::GetItemRectMax(),
                      .value = drawn.value,
                      .why_not = {}});
}

}  // namespace

void CompareCurves::draw_plot(PaneContext& ui, const CompareSlots& slots, size_t plot,
                              ImVec2 size) {
    const std::string unit = unit_of(slots.at(0), plot);
    viz::CurvePlot view;
    view.id = plot == 0 ? "compare training" : "compare validation";
    view.title = plot == 0 ? "Training loss" : "Validation";
    view.unit = unit;
    for (const SlotCurve& one : slot_curves(ui, slots, plot, unit)) {
        viz::Curve curve;
        // Its end is that of the run: at the step of a slot it had another value.
        curve.label = (one.letters.size() > 1 ? "run of " : "") + one.letters;
        curve.x = one.curves->step;
        curve.y = *one.values;
        curve.color = ui.theme.series[one.slot % ui.theme.series.size()];
        curve.width = 1.5F;
        curve.dots = plot == 1;
        view.curves.push_back(std::move(curve));
    }
    for (size_t i = 0; i < slots.size(); ++i) {
        const ComparedSlot& slot = slots.at(i);
        if (slot.step < 0) continue;
        view.events.push_back({.x = double(slot.step),
                               .text = {},
                               .color = ui.theme.series[i % ui.theme.series.size()]});
        // A slot that has no curve here may have one in the other plot. A checkpoint that has none
        // at all may be far beyond them.
        if (slot.status != nullptr && !curves_of_slot(ui, slot).step.empty())
            view.reach.push_back(double(slot.step));
    }
    if (view.curves.empty()) return draw_no_curves(ui, view, plot, size);
    view.size = size;
    view.cache = &caches_[plot];
    view.zoom = {&x_zoom_, &y_zooms_[plot]};
    const ImVec2 a = ImGui::GetCursorScreenPos();
    ImGui::BeginGroup();
    const viz::CurveReply reply = viz::draw_curves(view, ui);
    ImGui::EndGroup();
    if (reply.has_more) ui.want_frames(2);
    if (reply.reset) y_zooms_ = {};
    DrawnPlot drawn{.corner = a, .steps = {reply.x_low, reply.x_high}, .value = {}};
    const std::string marks = draw_marks(ui, slots, view, drawn);
    ImGui::SetCursorScreenPos(a);
    ImGui::Dummy(size);
    for (const viz::Curve& curve : view.curves)
        drawn.value += fmt::format("{}{}: {} points", drawn.value.empty() ? "" : "; ", curve.label,
                                   curve.y.size());
    drawn.value += marks;
    record_plot(ui, view, plot, drawn);
}

// The title, and that there is nothing.
void CompareCurves::draw_no_curves(PaneContext& ui, const viz::CurvePlot& view, size_t plot,
                                   ImVec2 size) {
    const std::string words =
        plot == 0 ? "None of them has logged its loss." : "None of them has been validated yet.";
    const ImVec2 a = ImGui::GetCursorScreenPos();
    text_at(ui, a, view.title, {text_size::label, ui.theme.text1, Face::semibold});
    text_at(ui, {a.x, a.y + ui.px(22)}, words,
            {text_size::hint, ui.theme.text3, Face::regular, size.x});
    ImGui::Dummy(size);
    record_plot(ui, view, plot, {a, {}, words});
}

void CompareCurves::draw(PaneContext& ui, const CompareSlots& slots, ImVec2 area) {
    if (const std::string words = missing_words(ui, slots); !words.empty()) {
        const float top = ImGui::GetCursorPosY();
        hint(ui, words);
        area.y -= ImGui::GetCursorPosY() - top;
    }
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float gap = ui.px(24);
    // A lower area scrolls.
    const ImVec2 size = {std::floor((area.x - gap) / 2), std::max(ui.px(80), area.y)};
    draw_plot(ui, slots, 0, size);
    ImGui::SetCursorScreenPos({at.x + size.x + gap, at.y});
    draw_plot(ui, slots, 1, size);
}

}  // namespace aft::app
