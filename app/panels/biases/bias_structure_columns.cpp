#include "app/panels/biases/bias_structure_columns.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/panels/shared/positions.h"

namespace aft::app {

namespace {

constexpr StructureColumn kStructure[] = {
    {"50 %", "Within 50 %", "within_50", false, false, false, StructureUnit::grid,
     "The distance within which half of a target's share lies by the bias alone."},
    {"90 %", "Within 90 %", "within_90", false, false, false, StructureUnit::grid,
     "The distance within which nine tenths of a target's share lie by the bias alone."},
    {"Mean", "Mean distance", "mean_distance", false, false, false, StructureUnit::grid,
     "The mean distance of a target's share by the bias alone."},
    {"Left, %", "Looks left", "left", true, false, false, StructureUnit::none,
     "The share of a target, softmax of w, on sources left of it."},
    {"Right, %", "Looks right", "right", true, false, false, StructureUnit::none,
     "The share of a target, softmax of w, on sources right of it."},
    {"Above, %", "Looks above", "above", true, true, false, StructureUnit::none,
     "The share of a target, softmax of w, on sources above it."},
    {"Below, %", "Looks below", "below", true, true, false, StructureUnit::none,
     "The share of a target, softmax of w, on sources below it."},
    {"Start, %", "Looks at the start", "start", true, false, true, StructureUnit::none,
     "The share of a target, softmax of w, on sources without a place in the input."},
    {"Rank 90 %", "Rank, 90 %", "rank_90"},
    {"Rank 99 %", "Rank, 99 %", "rank_99"},
    {"Exchange, %", "Exchange, target and source", "exchange", true},
    {"Mirror x, %", "Mirror x, left and right", "left_right", true},
    {"Mirror y, %", "Mirror y, up and down", "up_down", true},
    {"50 %", "Window, 50 %", "window_50", false, false, false, StructureUnit::window,
     "The distance within which half of what is learned lies: of |exp(w) \u2212 exp(w outside)| "
     "over the row's sum of exp(w)."},
    {"90 %", "Window, 90 %", "window_90", false, false, false, StructureUnit::window,
     "The distance within which nine tenths of what is learned lie: of |exp(w) \u2212 exp(w "
     "outside)| over the row's sum of exp(w)."},
    {"Edge, %", "Edge of the window", "edge", true, false, false, StructureUnit::none,
     "The share of what is learned, |exp(w) \u2212 exp(w outside)| over the row's sum of exp(w), "
     "at the edge of the window: at distances over 0.9 of its largest."},
    {"Even, %", "Edge if even", "edge_if_even", true, false, false, StructureUnit::none,
     "The share of the window's cells that lie at its edge: what Edge would be if all of the "
     "window were used alike. Edge near it or above: the window cuts something off. Far below: it "
     "does "
     "not."},
    {"Inside, %", "Inside the window", "inside", true, false, false, StructureUnit::none,
     "The share of a target, softmax of w, that lies inside the window."},
    {"Largest", "Largest distance", "largest", false, false, false, StructureUnit::window,
     "The largest distance inside the window."},
    {"50 %", "Window, 50 %, on the grid", "window_grid_50", false, false, false,
     StructureUnit::grid, "As 50 % of the window, measured in the picture."},
    {"90 %", "Window, 90 %, on the grid", "window_grid_90", false, false, false,
     StructureUnit::grid, "As 90 % of the window, measured in the picture."}};
static_assert(std::size(kStructure) == kStructureNumbers);

// On the screen what a window holds comes first.
constexpr std::array<size_t, kStructureNumbers> kStructureOrder = {
    13, 14, 19, 20, 15, 16, 17, 18, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};

// Texts are a line, and so is a mixer alone without a grid of more than one row.
bool is_on_grid(const ViewState& ui) {
    if (!ui.status.task.is_mixer_alone) return !ui.status.task.is_text();
    if (!ui.status.task.is_bias_alone) return ui.status.grid_height > 1;
    const std::vector<MapLayer>& layers = ui.status.config.model.maps.layers;
    return std::any_of(layers.begin(), layers.end(),
                       [](const MapLayer& layer) { return layer.height > 1; });
}

bool is_window_on_grid(const ViewState& ui) {
    return ui.status.mixer.bias == BiasLayout::kernel_2d;
}

const char* unit_of(const ViewState& ui, StructureUnit unit) {
    if (!is_on_grid(ui) || (unit == StructureUnit::window && !is_window_on_grid(ui)))
        return "tokens";
    if (ui.status.task.tokens == TokenKind::patches) return "patches";
    const bool has_channels =
        ui.status.task.tokens == TokenKind::values && ui.status.config.model.channels > 1;
    return unit == StructureUnit::window && has_channels ? "grid tokens" : "pixels";
}

// What is known of a layer's bias before it is read.
struct LayerShape {
    BiasLayout layout = BiasLayout::none;
    int64_t window = 0;  // of kernels taps along an axis, else |t - j| < window; 0 = none
    int64_t tokens = 0, height = 1, width = 1;
    bool is_causal = false, is_centred = false;

    // How many tokens before its target a source inside may stand. Not of kernels on a grid.
    [[nodiscard]] int64_t before() const {
        if (window == 0) return tokens - 1;
        if (layout != BiasLayout::kernel_1d) return window - 1;
        return is_causal && !is_centred ? window - 1 : window / 2;
    }
    // Some source that a target sees lies outside.
    [[nodiscard]] bool is_cut() const {
        if (window == 0) return false;
        if (layout == BiasLayout::kernel_2d) return std::max(height, width) - 1 > window / 2;
        return tokens - 1 > before();
    }
    // The line above or below a target is inside.
    [[nodiscard]] bool holds_lines() const {
        return height > 1 && (layout == BiasLayout::kernel_2d ? window > 2 : before() >= width);
    }
};

LayerShape shape_of(const ViewState& ui, size_t layer) {
    const Status& status = ui.status;
    const ModelConfig& model = status.config.model;
    const bool is_causal = model.causal();
    if (layer >= model.maps.layers.size())
        return {.layout = status.mixer.bias,
                .window = status.mixer.window,
                .tokens = status.tokens,
                .height = status.grid_height,
                .width = status.grid_width,
                .is_causal = is_causal,
                .is_centred = status.mixer.is_centred};
    const MapLayer& map = model.maps.layers[layer];
    return {.layout = map.layout,
            .window = map.layout == BiasLayout::band ? (map.taps + 1) / 2 : map.taps,
            .tokens = map.tokens(),
            .height = map.height,
            .width = map.columns(),
            .is_causal = is_causal,
            .is_centred = true};
}

// Which numbers of symmetry are defined, as in the probe.
bool is_defined(const LayerShape& shape, size_t index) {
    constexpr int64_t kMostExchanged = 4096;  // tokens
    if (index == kFirstOfSymmetry) return !shape.is_causal && shape.tokens <= kMostExchanged;
    if (index == kFirstOfSymmetry + 1) return !shape.is_causal || shape.holds_lines();
    return !shape.is_causal && shape.holds_lines();
}

bool shows(const ViewState& ui, size_t index) {
    const StructureColumn& column = kStructure[index];
    const auto any = [&](const auto& is_so) {
        for (size_t layer = 0; layer < ui.status.layers.size(); ++layer)
            if (is_so(shape_of(ui, layer))) return true;
        return false;
    };
    // Of a window that cuts something off, what is inside alone: beyond it every source is alike.
    if (column.unit == StructureUnit::grid && index < kOfReach)
        return any([](const LayerShape& shape) { return !shape.is_cut(); });
    if (index >= kFirstOnGrid && (!is_on_grid(ui) || is_window_on_grid(ui))) return false;
    if (index == kLargest) return false;  // at the foot
    if (index >= kFirstOfWindow) return any([](const LayerShape& shape) { return shape.is_cut(); });
    if (index >= kFirstOfSymmetry)  // one that is defined for some layer
        return any([&](const LayerShape& shape) { return is_defined(shape, index); });
    if (column.at_start) return *start_words(Positions(ui.status)) != '\0';
    return !column.on_grid || is_on_grid(ui);
}

constexpr size_t kFirstDirection = 3, kDirections = 4;  // columns left to below
constexpr const char* kCountsTwice =
    "One above and left counts in both, so that the four can exceed 100 % together; one in the "
    "target's own column is neither left nor right.";

}  // namespace

std::span<const StructureColumn, kStructureNumbers> structure_columns() {
    return kStructure;
}

bool has_window(const ViewState& ui, int64_t layer) {
    const std::vector<MapLayer>& maps = ui.status.config.model.maps.layers;
    return size_t(layer) < maps.size() ? maps[size_t(layer)].taps > 0 : ui.status.mixer.window > 0;
}

std::string unit_words(const ViewState& ui, const StructureColumn& column) {
    return column.unit == StructureUnit::none ? "" : unit_of(ui, column.unit);
}

std::string title_of(const ViewState& ui, const StructureColumn& column) {
    if (column.unit == StructureUnit::none) return column.title;
    return fmt::format("{}, {}", column.title, unit_of(ui, column.unit));
}

std::string group_of(const ViewState& ui, size_t index) {
    const StructureUnit unit = kStructure[index].unit;
    if (index >= kFirstOfWindow)
        return fmt::format("Window, {}", unit == StructureUnit::none ? "%" : unit_of(ui, unit));
    if (index >= kFirstOfSymmetry) return "Symmetry, %";
    if (index >= kOfReach) return "Rank";
    return unit == StructureUnit::none ? "Looks, %"
                                       : fmt::format("Distance, {}", unit_of(ui, unit));
}

std::string tip_of(const ViewState& ui, size_t index) {
    const bool is_look = index >= kFirstDirection && index < kFirstDirection + kDirections;
    const std::string tip = kStructure[index].tip;
    return is_look && is_on_grid(ui) ? tip + " " + kCountsTwice : tip;
}

std::string short_title(size_t index) {
    std::string_view title = kStructure[index].title;
    if (title.ends_with(", %")) title.remove_suffix(3);
    if (title.starts_with("Rank ")) title.remove_prefix(5);
    return std::string(title);
}

std::vector<size_t> shown_columns(const ViewState& ui) {
    std::vector<size_t> out;
    for (const size_t i : kStructureOrder)
        if (shows(ui, i)) out.push_back(i);
    return out;
}

std::string distance_words(const ViewState& ui) {
    const std::vector<size_t> shown = shown_columns(ui);
    std::string out;
    if (std::find(shown.begin(), shown.end(), kInside) != shown.end())
        out =
            "50 %, 90 %, Edge: of what the window has learned, |exp(w) \u2212 exp(w outside)| over "
            "the row's sum: within which distance so much of it lies, and its share in the "
            "outermost tenth; of targets that see sources outside. Even: the share of the window's "
            "cells there; Edge near it or above: the window cuts something off. Inside: the share "
            "of a row in the window.";
    if (std::find(shown.begin(), shown.end(), size_t{0}) != shown.end())
        out += (out.empty() ? "" : " ") +
               std::string(
                   "50 %, 90 %, Mean: the distance within which that share lies, and its "
                   "mean.");
    if (is_on_grid(ui))
        out +=
            " Looks: one above and left counts in both, so that the four can exceed 100 % "
            "together.";
    return out;
}

std::string window_words(const ViewState& ui, StructureRows rows) {
    if (ui.status.mixer.window == 0) return "none";
    std::string out = fmt::format(
        "{}{} {}", ui.status.mixer.window,
        is_window_on_grid(ui) ? fmt::format(" \u00D7 {}", ui.status.mixer.window) : std::string(),
        unit_of(ui, StructureUnit::window));
    const auto chosen = std::find_if(rows.begin(), rows.end(), [&](const HeadStructure& one) {
        return one.layer == ui.selection.cell.layer &&
               one.head == std::max<int64_t>(0, ui.selection.cell.head);
    });
    if (chosen == rows.end()) return out;
    if (std::isnan(chosen->numbers[kInside])) return out + ": it cuts nothing off";
    const auto largest = int64_t(chosen->numbers[kLargest]);
    const int64_t edge = std::min(largest, largest * 9 / 10 + 1);
    const std::string places =
        edge == largest ? std::to_string(largest) : fmt::format("{} to {}", edge, largest);
    return out + fmt::format(", edge: distance{} {}", edge == largest ? "" : "s", places);
}

std::string symmetry_words(const ViewState& ui) {
    std::string words =
        " Exchange, mirrors: the share "
        "(1\u00A0+\u00A0w\u00B7m\u00A0/\u00A0w\u00B7w)\u00A0/\u00A02 of w that stays when target "
        "and "
        "source change places, or a target's row is mirrored left-right (x), up-down (y), which "
        "makes m of w; 100\u00A0% symmetric, 50\u00A0% neither, 0\u00A0% antisymmetric.";
    std::string missing;
    for (size_t i = kFirstOfSymmetry; i < kFirstOfWindow; ++i)
        if (!shows(ui, i)) missing += (missing.empty() ? "" : ", ") + std::string(kStructure[i].id);
    std::replace(missing.begin(), missing.end(), '_', '-');
    if (missing.empty()) return words;
    const auto count = std::count(missing.begin(), missing.end(), ',') + 1;
    if (count == int64_t(kOfSymmetry))
        return fmt::format(" No symmetry is defined{}.",
                           ui.status.task.is_autoregressive ? " (causal)" : "");
    return words + " Not defined" + (ui.status.task.is_autoregressive ? " (causal)" : "") + ": " +
           missing + ".";
}

}  // namespace aft::app
