#include "app/panels/lab/lab_figure.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/panels/lab/lab_words.h"
#include "app/widgets/table.h"
#include "app/widgets/text.h"
#include "core/text.h"
#include "viz/numbers.h"
#include "viz/plot_ticks.h"

namespace aft::app {

namespace {

constexpr float kFigureRow = 20, kLeastFigure = 108;
constexpr size_t kMostFigureRows = 8;
constexpr float kFigureName = 210, kFigureValue = 84, kFigureWidth = 270;

struct IntervalRow {
    std::string name, id;
    LossChange change;
    bool is_all = false, is_on = true;
};

// All of the recipe, and all of it together.
std::vector<IntervalRow> all_rows_of(const ViewState& ui) {
    const LabChoice& lab = ui.selection.lab;
    std::vector<IntervalRow> rows;
    for (size_t i = 0; i < lab.recipe.interventions.size(); ++i) {
        const Intervention& one = lab.recipe.interventions[i];
        rows.push_back({.name = fmt::format("{}  {} {}", i + 1, intervention_title(one.name),
                                            one.layer < 0 ? std::string("all layers")
                                                          : fmt::format("L{}", one.layer)),
                        .id = fmt::format("change_{}", i),
                        .change = i < lab.numbers.each.size() ? lab.numbers.each[i] : LossChange(),
                        .is_on = one.on});
        if (one.head >= 0) rows.back().name += fmt::format(" h{}", one.head);
    }
    rows.push_back({.name = "all together",
                    .id = "change_together",
                    .change = lab.numbers.together,
                    .is_all = true});
    return rows;
}

std::vector<IntervalRow> rows_of(const ViewState& ui) {
    std::vector<IntervalRow> rows = all_rows_of(ui);
    if (rows.size() > kMostFigureRows + 1)
        rows.erase(rows.begin() + kMostFigureRows, std::prev(rows.end()));
    return rows;
}

// The loss change of each and of all together, and the loss without them, for who saves numbers.
void save_rows(const PaneContext& ui, const BatchLosses& losses) {
    if (ui.numbers == nullptr) return;
    const LabChoice& lab = ui.selection.lab;
    if (losses.is_busy())
        ui.numbers->unread =
            fmt::format("the loss of {} of {} examples", lab.numbers.measured, lab.examples);
    const std::vector<Column> columns = {{.title = "Intervention"},
                                         {.title = "On"},
                                         {.title = "Change, " + loss_unit(ui)},
                                         {.title = "Half width, 95 %"},
                                         {.title = "Examples"},
                                         {.title = "Untouched, " + loss_unit(ui)}};
    std::vector<TableRow> rows;
    for (const IntervalRow& row : all_rows_of(ui)) {
        rows.push_back({.name = {row.name, row.id},
                        .cells = {row.name, row.is_all || row.is_on ? "yes" : "no"}});
        const double before = lab.numbers.untouched.value_or(NAN);
        rows.back().values = {NAN, NAN, NAN, NAN, NAN, before};
        if (!row.change) continue;
        rows.back().values = {
            NAN,   NAN, row.change->mean, row.change->half_width_95(), double(row.change->count),
            before};
    }
    save_table(ui, "loss_change", columns, rows);
}

// Ends of all intervals, 0 among them; 0 alone where nothing is measured or nothing changes.
Range span_of(const std::vector<IntervalRow>& rows) {
    Range range{0, 0};
    for (const IntervalRow& row : rows) {
        if (!row.change || !std::isfinite(row.change->mean)) continue;
        const double half = row.change->half_width_95();
        const double reach = std::isfinite(half) ? half : 0;
        range.low = std::min(range.low, row.change->mean - reach);
        range.high = std::max(range.high, row.change->mean + reach);
    }
    return range;
}

struct IntervalAxis {
    float left, width;
    Range span;
    [[nodiscard]] bool is_zero() const { return span.high <= span.low; }
    [[nodiscard]] float x(double value) const {
        if (is_zero()) return left;
        return left + float((value - span.low) / (span.high - span.low)) * width;
    }
};

void draw_interval(const DrawContext& ui, const IntervalRow& row, const IntervalAxis& axis,
                   float y) {
    if (!row.change || !std::isfinite(row.change->mean)) return;
    const ImU32 color = ui.theme.series[row.is_all ? 1 : 0];
    const double half = row.change->half_width_95();
    ImDrawList* const list = ImGui::GetWindowDrawList();
    if (std::isfinite(half))
        list->AddLine({axis.x(row.change->mean - half), y}, {axis.x(row.change->mean + half), y},
                      color, ui.px(1.5F));
    list->AddCircleFilled({axis.x(row.change->mean), y}, ui.px(4), color);
}

// Lines at round changes, that of 0 stronger, from `top` to `bottom`, with their numbers below.
void draw_axis(const DrawContext& ui, const IntervalAxis& axis, float top, float bottom) {
    constexpr float kAcross = 76;  // from number to number, pixels at scale 1
    const viz::Ticks ticks =
        axis.is_zero() ? viz::Ticks{.values = {0}, .labels = {"0"}}
                       : viz::make_ticks({.low = axis.span.low,
                                          .high = axis.span.high,
                                          .most = std::max(2, int(axis.width / ui.px(kAcross)))});
    ImDrawList* const list = ImGui::GetWindowDrawList();
    for (size_t i = 0; i < ticks.values.size(); ++i) {
        const float x = std::round(axis.x(ticks.values[i]));
        const float half = text_extent(ui, ticks.labels[i], text_size::hint).x / 2;
        list->AddLine({x, top}, {x, bottom}, ui.theme.line, ui.px(1));
        text_at(ui, {x - half, bottom + ui.px(2)}, ticks.labels[i],
                {text_size::hint, ui.theme.text3});
    }
    const float zero = std::round(axis.x(0));
    list->AddLine({zero, top}, {zero, bottom}, ui.theme.strong, ui.px(1));
}

// Above: the loss that the changes are of, and what their column is.
void draw_rows(PaneContext& ui, ImVec2 corner, float width, double untouched) {
    const std::vector<IntervalRow> rows = rows_of(ui);
    const Range span = span_of(rows);
    const float left = corner.x + ui.px(kFigureName);
    const float across = std::max(ui.px(40), width - ui.px(kFigureName + kFigureValue));
    const float right = corner.x + width;
    const auto line = [&](size_t index) { return corner.y + ui.px(kFigureRow) * float(index); };
    const auto value_at = [&](float y, const std::string& words, ImU32 color) {
        const float wide = text_extent(ui, words, text_size::label, Face::regular).x;
        text_at(ui, {right - wide, y}, words, {text_size::label, color});
    };
    text_at(ui, {corner.x, line(0)}, fmt::format("untouched: loss {:.3f}", untouched),
            {text_size::label, ui.theme.text2});
    value_at(line(0), "change, " + loss_unit(ui), ui.theme.text3);
    const IntervalAxis axis{left, across, span};
    draw_axis(ui, axis, line(1), line(rows.size() + 1));
    for (size_t i = 0; i < rows.size(); ++i) {
        const IntervalRow& row = rows[i];
        const float y = line(i + 1);
        const ImU32 ink = row.is_all ? ui.theme.text1 : row.is_on ? ui.theme.text2 : ui.theme.text3;
        text_at(ui, {corner.x, y}, row.name + (row.is_on ? "" : " (off)"),
                {text_size::label, ink, row.is_all ? Face::medium : Face::regular,
                 ui.px(kFigureName - 8)});
        draw_interval(ui, row, axis, y + ui.px(8));
        const std::string words = row.change ? change_words(*row.change) : "\u2013";
        value_at(y, words, ink);
        ui.recorder.area({.kind = "value",
                          .path = ui.recorder.claim({row.name, row.id}),
                          .min = {corner.x, y},
                          .max = {right, y + ui.px(kFigureRow)},
                          .value = words,
                          .why_not = {}});
    }
}

}  // namespace

float figure_height(const DrawContext& ui, size_t interventions) {
    const auto rows = float(std::min(interventions, kMostFigureRows) + 3);  // head and axis, too
    return ui.px(std::max(kLeastFigure, kFigureRow * rows + 8));
}

void draw_lab_figure(PaneContext& ui, const BatchLosses& losses, const Recipe& active) {
    const LabChoice& lab = ui.selection.lab;
    save_rows(ui, losses);
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float width = ImGui::GetContentRegionAvail().x;
    const char* const examples = ui.status.task.is_text() ? "texts" : "images";
    text_at(ui, at, fmt::format("Loss on the pinned batch, {} {}", lab.examples, examples),
            {text_size::hint, ui.theme.text2});
    const LossChange& change = lab.numbers.together;
    const std::string figure = active.is_untouched() ? "0.000"
                               : change              ? change_words(*change)
                                                     : "\u2013";
    text_at(ui, {at.x, at.y + ui.px(24)}, figure, {30, ui.theme.text1, Face::semibold});
    const float after = at.x + text_extent(ui, figure, 30, Face::semibold).x + ui.px(10);
    std::string rest = loss_unit(ui);
    const std::string interval = change && std::isfinite(change->half_width_95())
                                     ? fmt::format("\u00B1 {:.{}f} (95 %)", change->half_width_95(),
                                                   change_decimals(*change))
                                     : "";
    // On a line of its own where the rows beside it begin before its end.
    const float end = at.x + std::min(ui.px(kFigureWidth - 12), width);
    const float wide = text_extent(ui, rest + "  " + interval, text_size::label, Face::regular).x;
    const bool fits = after + wide <= end;
    text_at(ui, {after, at.y + ui.px(38)}, fits ? rest + "  " + interval : rest,
            {text_size::label, ui.theme.text2});
    if (!fits) text_at(ui, {at.x, at.y + ui.px(62)}, interval, {text_size::label, ui.theme.text2});
    if (!interval.empty()) rest += "  " + interval;
    const std::string state =
        losses.item_error().empty() && losses.is_busy()
            ? fmt::format("Measuring: {} of {}", lab.numbers.measured, lab.examples)
            : "";
    text_at(ui, {at.x, at.y + ui.px(fits ? 66 : 84)}, state, {text_size::hint, ui.theme.text3});
    ui.recorder.area({.kind = losses.is_busy() ? "progress" : "value",
                      .path = ui.recorder.claim("Loss change##loss_change"),
                      .min = at,
                      .max = {fits ? at.x + ui.px(kFigureWidth) : end, at.y + ui.px(84)},
                      .value = (losses.is_busy() ? "Reading " : "") + figure + " " + rest,
                      .why_not = {}});
    const bool is_wide = width > ui.px(kFigureWidth + kFigureName + kFigureValue + 80);
    if (is_wide && lab.numbers.untouched)
        draw_rows(ui, {at.x + ui.px(kFigureWidth), at.y}, width - ui.px(kFigureWidth + 4),
                  *lab.numbers.untouched);
    ImGui::Dummy({width, figure_height(ui, is_wide ? lab.recipe.interventions.size() : 0)});
}

}  // namespace aft::app
