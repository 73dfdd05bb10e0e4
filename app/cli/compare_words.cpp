#include "app/cli/compare_words.h"

#include <fmt/format.h>

#include <cmath>

#include "core/outside.h"
#include "core/text.h"

namespace aft::app {
namespace {

using Rows = std::vector<std::vector<std::string>>;

constexpr double kLowScore = 0.3;  // a correlation below it is no likeness

std::string compared_number(double value) {
    return std::isnan(value) ? "-" : fmt::format("{:.5g}", value);
}

std::string cut_value(const std::string& text) {
    constexpr size_t kMostBytes = 40;
    if (text.size() <= kMostBytes) return text;
    size_t end = kMostBytes;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
    return text.substr(0, end) + "...";
}

std::string side_words(const ComparedModel& side) {
    std::string words = fmt::format("{}, step {}", shown_path(side.model), side.step);
    if (!side.recipe.empty()) words += ", after the interventions of " + shown_path(side.recipe);
    return words;
}

std::vector<std::string> pair_words(const std::vector<HeadMatch>& pairs, double below) {
    std::vector<std::string> words;
    for (const HeadMatch& pair : pairs)
        if (!(pair.score >= below)) words.push_back(fmt::format("{}-{}", pair.a, pair.b));
    return words;
}

std::string layer_order(const CompareJob& job, const CompareResult& result) {
    if (!job.matches_layers) return "in their order";
    double sum = 0;
    for (const HeadMatch& pair : result.layer_pairs)
        if (!std::isnan(pair.score)) sum += pair.score;
    constexpr double kAll = 2;  // no correlation is so large
    return fmt::format("matched: {}, sum of correlations {:.2f}; in order {:.2f}",
                       shown_names(pair_words(result.layer_pairs, kAll)), sum, result.sum_in_order);
}

std::string head_lines(const CompareJob& job, const CompareResult& result) {
    Rows rows = {{"A", side_words(result.a)}, {"B", side_words(result.b)}};
    rows.push_back({"gauge", result.gauge == "fixed" ? "fixed (without what may be added to a row)"
                                                     : result.gauge});
    if (job.blocks > 1)
        rows.push_back({"blocks", fmt::format("means over {0} x {0} cells", job.blocks)});
    rows.push_back({"layers", layer_order(job, result)});
    rows.push_back(
        {"heads", job.matches ? "matched by the correlation of their maps" : "in their order"});
    if (!result.file.empty())
        rows.push_back({"maps", fmt::format("{}: {}, {}", shown_path(result.file), job.view,
                                            fmt::join(result.shape, " x "))});
    return aligned_table(rows, 2);
}

void add_distance(std::vector<std::string>& row, const MapDistance& distance) {
    for (const double value : {distance.norm_a, distance.norm_b, distance.norm_change,
                               distance.relative(), distance.correlation})
        row.push_back(compared_number(value));
}

std::string layer_table(const CompareResult& result) {
    Rows rows = {{"layer", "of B", "norm A", "norm B", "norm of change", "relative", "correlation",
                  "by gauge %"}};
    for (const ComparedLayer& layer : result.layers) {
        rows.push_back({std::to_string(layer.layer), std::to_string(layer.layer_b)});
        add_distance(rows.back(), layer.all);
        rows.back().push_back(compared_number(100 * layer.by_gauge));
    }
    std::string out =
        "\nlayers (change: B - A; norms: Frobenius; by gauge: the share of the raw change that is "
        "mere gauge)\n" +
        aligned_table(rows, 0);
    if (const auto low = pair_words(result.layer_pairs, kLowScore); !low.empty())
        out += fmt::format(
            "layers {}: correlation below {}: the best pairs that are left, no likeness\n",
            shown_names(low), kLowScore);
    return out;
}

std::string head_table(const CompareJob& job, const CompareResult& result) {
    Rows rows = {{"layer", "of B", "head", "of B", "norm A", "norm B", "norm of change", "relative",
                  "correlation"}};
    size_t low = 0;
    for (const ComparedLayer& layer : result.layers) {
        const std::vector<HeadMatch>& pairs = layer.matching.pairs;
        for (size_t i = 0; i < layer.heads.size(); ++i) {
            rows.push_back({std::to_string(layer.layer), std::to_string(layer.layer_b),
                            std::to_string(pairs[i].a), std::to_string(pairs[i].b)});
            add_distance(rows.back(), layer.heads[i]);
        }
        if (pairs.size() > 1) low += pair_words(pairs, kLowScore).size();
    }
    std::string out = "\nheads\n" + aligned_table(rows, 0);
    if (job.matches && low > 0)
        out += fmt::format(
            "{} of {} heads: correlation below {}: the best pairs that are left, no likeness\n",
            low, rows.size() - 1, kLowScore);
    return out;
}

std::string change_table(const CompareJob& job, const CompareResult& result) {
    if (job.changes == 0) return "";
    if (job.blocks > 1) return "\nlargest changes: none are listed of means over blocks\n";
    if (result.changes.empty()) return "\nlargest changes: no cell differs\n";
    Rows rows = {{"layer", "of B", "head", "of B", result.row_axis, result.column_axis, "w A",
                  "w B", "change", "change of exp(w)"}};
    for (const ComparedCell& cell : result.changes) {
        rows.emplace_back();
        for (const int64_t place :
             {cell.layer, cell.layer_b, cell.head_a, cell.head_b, cell.row, cell.column})
            rows.back().push_back(std::to_string(place));
        for (const double value :
             {cell.a, cell.b, cell.b - cell.a, std::exp(cell.b) - std::exp(cell.a)})
            rows.back().push_back(compared_number(value));
    }
    return fmt::format("\nlargest changes, by the change of {}\n",
                       job.changes_by == ChangeMeasure::exp ? "exp(w)" : "w") +
           aligned_table(rows, 0);
}

std::string setting_table(const CompareResult& result) {
    if (result.settings.empty()) return "\nsettings: none differ\n";
    Rows rows = {{"setting", "A", "B"}};
    for (const DifferingSetting& setting : result.settings) {
        rows.push_back({setting.key});
        for (const std::string& value : setting.values) rows.back().push_back(cut_value(value));
    }
    return "\nsettings that differ\n" + aligned_table(rows, 3);
}

}  // namespace

std::string compare_words(const CompareJob& job, const CompareResult& result) {
    return head_lines(job, result) + layer_table(result) + head_table(job, result) +
           change_table(job, result) + setting_table(result);
}

}  // namespace aft::app
