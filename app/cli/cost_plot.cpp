#include "app/cli/cost_plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "core/outside.h"

namespace aft::app {
namespace {

constexpr int kSeriesColors = 8;

double place_of(int64_t tokens) {
    return std::log2(static_cast<double>(tokens));
}

// At most ten names along the axis.
void add_length_ticks(FigurePlot& plot, const CostResult& result) {
    constexpr size_t kMost = 10;
    std::set<int64_t> lengths;
    for (const CostRow& row : result.rows) lengths.insert(row.shape.tokens);
    const size_t every = (lengths.size() + kMost - 1) / kMost;
    size_t at = 0;
    for (const int64_t length : lengths)
        if (at++ % every == 0) plot.x_ticks.emplace_back(place_of(length), std::to_string(length));
}

// Powers of ten around all values, and 2 and 5 between them where there are few.
void add_decade_ticks(FigurePlot& plot) {
    double low = std::numeric_limits<double>::infinity(), high = -low;
    for (const FigureSeries& one : plot.series)
        for (const double v : one.y) {
            if (!std::isfinite(v)) continue;
            low = std::min(low, v);
            high = std::max(high, v);
        }
    if (!(low <= high)) return;
    const double first = std::floor(low), last = std::max(std::ceil(high), first + 1);
    constexpr double kFew = 3;
    for (double decade = first; decade <= last; ++decade)
        for (const double times : {1.0, 2.0, 5.0}) {
            if (times > 1 && (last - first > kFew || decade == last)) continue;
            const double value = times * std::pow(10.0, decade);
            plot.y_ticks.emplace_back(std::log10(value), figure_number(value));
        }
}

FigurePlot plot_of(const CostResult& result, const CostQuantity& quantity) {
    FigurePlot plot{.x_label = "tokens T, log scale",
                    .y_label = quantity.words + ", log scale",
                    .names_at_ends = true};
    std::map<std::string, size_t> places;
    for (const CostRow& row : result.rows) {
        const auto [place, is_new] = places.emplace(row.mixer, plot.series.size());
        if (is_new) {
            FigureSeries one;
            one.name = row.mixer + (row.is_own ? " (the model's)" : "");
            const auto number = static_cast<int>(plot.series.size());
            one.color = number % kSeriesColors;
            one.has_dots = number >= kSeriesColors || row.is_own;
            plot.series.push_back(std::move(one));
        }
        FigureSeries& one = plot.series[place->second];
        one.x.push_back(place_of(row.shape.tokens));
        one.y.push_back(std::log10(quantity.value(row)));
    }
    for (FigureSeries& one : plot.series) one.has_dots = one.has_dots || one.x.size() == 1;
    add_length_ticks(plot, result);
    add_decade_ticks(plot);
    return plot;
}

}  // namespace

std::vector<CostQuantity> cost_quantities(bool decodes) {
    std::vector<CostQuantity> out{
        {"forward and backward pass of a layer, GFLOP",
         [](const CostRow& row) {
             return (row.cost.layer.forward_flops + row.cost.layer.backward_flops) * 1e-9;
         }},
        {"activations that a layer keeps for the backward pass, MiB",
         [](const CostRow& row) { return row.cost.layer.kept_bytes / (1 << 20); }},
        {"forward and backward pass of a layer, ms (estimate)",
         [](const CostRow& row) { return row.seconds.train * 1e3; }}};
    if (!decodes) return out;
    out.push_back({"the last token of a layer, one by one, MFLOP",
                   [](const CostRow& row) { return row.cost.layer.decode_flops * 1e-6; }});
    out.push_back({"state of the decoder in a layer after the last token, KiB",
                   [](const CostRow& row) { return row.cost.layer.state_bytes / (1 << 10); }});
    return out;
}

FigureScene cost_scene(const CostResult& result) {
    FigureScene scene{.title =
                          "Cost of a layer by its mixer: " + printable_line(result.config.name)};
    const ModelConfig& model = result.config.model;
    scene.notes = {
        fmt::format("one layer of width {}, one example, float32; counted from the settings, not "
                    "measured; the model has {} tokens",
                    model.dim, result.tokens),
        fmt::format("times: estimates from {:.4g} GFLOP/s and {:.4g} GB/s measured on this "
                    "machine ({})",
                    result.rates.flops_per_second * 1e-9, result.rates.bytes_per_second * 1e-9,
                    result.rates.device)};
    for (const CostQuantity& quantity : cost_quantities(result.decodes))
        scene.parts.emplace_back(plot_of(result, quantity));
    return scene;
}

}  // namespace aft::app
