#include "app/panels/train/plot_card.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "core/text.h"

namespace aft::app {
namespace {

std::vector<viz::CardRow> rows_of(const NamedPlot& plot, double step) {
    std::vector<viz::CardRow> rows;
    for (size_t i = 0; i < plot.view.curves.size(); ++i) {
        const viz::Curve& curve = plot.view.curves[i];
        const auto point = viz::point_before(curve, step);
        if (!point) continue;
        std::string name = plot.names.at(i);
        if (point->x != step) name += " at step " + group_thousands(std::llround(point->x));
        rows.push_back(
            {.name = std::move(name), .value = exact_number(point->y), .color = curve.color});
    }
    return rows;
}

}  // namespace

viz::CurveCard card_at(std::span<const NamedPlot> plots, std::span<const NumberView> steps,
                       double x) {
    viz::CurveCard card{.x = x, .rows = {}};
    double away = std::numeric_limits<double>::infinity();
    for (const NumberView& of_run : steps) {
        const double step = viz::nearest(of_run, x);
        if (of_run.empty() || std::abs(step - x) >= away) continue;
        away = std::abs(step - x);
        card.x = step;
    }
    for (const NamedPlot& plot : plots) {
        const std::vector<viz::CardRow> rows = rows_of(plot, card.x);
        if (rows.empty()) continue;
        const std::string unit = plot.view.unit.empty() ? "" : ", " + plot.view.unit;
        card.rows.push_back({.name = plot.view.title + unit, .value = {}, .is_head = true});
        card.rows.insert(card.rows.end(), rows.begin(), rows.end());
    }
    return card;
}

std::string card_words(const viz::CurveCard& card) {
    std::string words = fmt::format("step {:.0f}", card.x);
    for (const viz::CardRow& row : card.rows)
        words += row.is_head ? "; " + row.name + ":" : " | " + row.name + " " + row.value;
    return words;
}

}  // namespace aft::app
