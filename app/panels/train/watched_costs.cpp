#include "app/panels/train/watched_costs.h"

#include <fmt/format.h>

#include <cmath>
#include <vector>

#include "app/panels/shared/intervention_words.h"
#include "app/panels/shared/loss_words.h"
#include "app/widgets/text.h"
#include "core/text.h"
#include "viz/curves.h"

namespace aft::app {
namespace {

constexpr float kCostPlot = 170, kPlotGap = 16;
constexpr float kSideBySide = 820;  // two plots in a line from here on

struct CostCurves {
    std::vector<double> steps, change, low, high, untouched, changed;
};

CostCurves curves_of(const ViewState& ui, const RecipeSeries& series) {
    CostCurves out;
    for (const auto& [step, point] : series.points()) {
        if (!point.error.empty()) continue;
        const double mean = shown_loss(ui, point.change.mean);
        const double error = shown_loss(ui, point.change.standard_error);
        out.steps.push_back(double(step));
        out.change.push_back(mean);
        out.low.push_back(mean - (std::isfinite(error) ? error : 0));
        out.high.push_back(mean + (std::isfinite(error) ? error : 0));
        out.untouched.push_back(shown_loss(ui, point.untouched));
        out.changed.push_back(shown_loss(ui, point.changed));
    }
    return out;
}

void draw_curve_plot(PaneContext& ui, viz::CurvePlot plot, const WidgetName& name,
                     const std::string& value) {
    if (ui.selection.step >= 0) plot.now = double(ui.selection.step);
    plot.id = name.id.c_str();
    plot.title = name.words;
    const ImVec2 at = ImGui::GetCursorScreenPos();
    ImGui::BeginGroup();  // its lines begin where it stands, also beside another one
    const viz::CurveReply reply = draw_curves(plot, ui);
    ImGui::EndGroup();
    ui.recorder.area({.kind = "plot",
                      .path = ui.recorder.claim(name),
                      .min = at,
                      .max = {at.x + plot.size.x, at.y + plot.size.y},
                      .value = value,
                      .why_not = {}});
    if (reply.clicked) ui.commands.send(ShowStep{std::llround(*reply.clicked)});
}

// What it costs with its standard error; beside it the two losses.
void draw_costs(PaneContext& ui, const CostCurves& of, size_t index) {
    const float available = ImGui::GetContentRegionAvail().x;
    const bool is_wide = available > ui.px(kSideBySide);
    const ImVec2 size{is_wide ? available / 2 - ui.px(kPlotGap / 2) : available, ui.px(kCostPlot)};
    const bool has_dots = of.steps.size() <= 64;
    const auto curve = [&](const char* label, const std::vector<double>& y, size_t color) {
        return viz::Curve{.label = label,
                          .x = of.steps,
                          .y = y,
                          .color = ui.theme.series[color],
                          .dots = has_dots,
                          .decimals = 4};
    };
    viz::Curve change = curve("change", of.change, 0);
    change.low = of.low;
    change.high = of.high;
    const auto last = [](const std::vector<double>& values) { return exact_number(values.back()); };
    const ImVec2 corner = ImGui::GetCursorScreenPos();
    draw_curve_plot(ui,
                    {.unit = loss_unit(ui) + ", changed \u2212 untouched, \u00B1 standard error",
                     .curves = {change},
                     .size = size,
                     .zero_line = true},
                    {"What it costs", fmt::format("recipe_{}_cost", index)},
                    fmt::format("{} points, last {}", of.steps.size(), last(of.change)));
    if (is_wide) ImGui::SetCursorScreenPos({corner.x + available - size.x, corner.y});
    draw_curve_plot(
        ui,
        {.unit = loss_unit(ui),
         .curves = {curve("untouched", of.untouched, 2), curve("changed", of.changed, 1)},
         .size = size},
        {"Loss", fmt::format("recipe_{}_losses", index)},
        fmt::format("{} points, last {} and {}", of.steps.size(), last(of.untouched),
                    last(of.changed)));
    if (is_wide) ImGui::SetCursorScreenPos(corner);
    if (is_wide) ImGui::Dummy({available, size.y});
}

}  // namespace

std::string recipe_words(const ViewState& ui, const WatchedRecipe& one) {
    std::string words;
    for (const Intervention& part : one.recipe.interventions)
        words += (words.empty() ? "" : ", ") + recipe_line(part);
    const char* const examples = ui.status.task.is_text() ? "texts" : "examples";
    return words + fmt::format("  \u00B7  {} {}{} from {} on", one.examples, examples,
                               one.split.empty() ? "" : " of " + one.split, one.first);
}

void draw_recipe_costs(PaneContext& ui, const RecipeSeries& series, size_t index) {
    if (!series.item_error().empty())
        hint(ui, "The data of this model are not here: " + series.item_error() + ".");
    const CostCurves curves = curves_of(ui, series);
    size_t refused = 0;
    std::string why;
    for (const auto& [step, point] : series.points()) {
        if (point.error.empty()) continue;
        if (refused++ == 0) why = fmt::format("step {}: {}", group_thousands(step), point.error);
    }
    if (refused > 0) {
        const std::string words =
            fmt::format("{} of {} steps cannot carry this recipe; {}.", refused,
                        series.points().size() + series.missing(), why);
        hint(ui, words);
        ui.recorder.item("value",
                         ui.recorder.claim({"Problem", fmt::format("recipe_{}_problem", index)}),
                         words);
    }
    if (!curves.steps.empty()) draw_costs(ui, curves, index);
}

}  // namespace aft::app
