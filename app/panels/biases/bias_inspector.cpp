// The Inspector's sections for the chosen bias map: selection, range with histogram, statistics.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/panels/biases/bias_tools.h"
#include "app/panels/shared/compare_command.h"
#include "app/panels/shared/copy_command.h"
#include "app/panels/shared/layer_words.h"
#include "app/panels/shared/norm_words.h"
#include "app/widgets/buttons.h"
#include "app/widgets/fields.h"
#include "app/widgets/text.h"
#include "app/widgets/tooltip.h"
#include "core/text.h"
#include "model/model_files.h"
#include "viz/color_bar.h"

namespace aft::app {
namespace {

// Shares exp(w) / sum exp(w) of one row or kernel.
struct Mass {
    double entropy = 0;
    std::vector<double> share;
};

Mass mass_of(std::span<const float> values, std::span<const uint8_t> hidden, Quantity quantity) {
    Mass mass;
    double total = 0;
    for (size_t i = 0; i < values.size(); ++i) {
        const bool skip = !hidden.empty() && hidden[i] != 0;
        const double v = quantity == Quantity::w               ? std::exp(double(values[i]))
                         : quantity == Quantity::exp_minus_one ? 1 + double(values[i])
                                                               : values[i];
        mass.share.push_back(skip || !std::isfinite(v) ? 0 : v);
        total += mass.share.back();
    }
    if (!(total > 0)) return mass;
    for (double& s : mass.share) {
        s /= total;
        if (s > 0) mass.entropy -= s * std::log2(s);
    }
    return mass;
}

void kernel_statistics(const BiasForm& form, const BiasMap& map, Quantity quantity,
                       MapStatistics& out) {
    const Mass mass = mass_of(map.shown, map.hidden, quantity);
    out.entropy = mass.entropy;
    for (size_t i = 0; i < mass.share.size(); ++i) {
        const auto dy = double(int64_t(i) / form.columns + form.first_offset);
        const auto dx = double(int64_t(i) % form.columns + form.first_offset);
        const double distance =
            form.layout == BiasLayout::kernel_2d ? std::hypot(dy, dx) : std::abs(dx);
        out.mean_distance += mass.share[i] * distance;
        out.within_one += distance < 1.01 ? mass.share[i] : 0;
    }
}

}  // namespace

MapStatistics bias_statistics(const BiasForm& form, const BiasMap& map, Quantity quantity) {
    MapStatistics out;
    out.low = std::numeric_limits<double>::infinity();
    out.high = -out.low;
    double sum = 0, sizes = 0, squares = 0;
    const bool is_block = !map.block.is_single();
    for (size_t i = 0; i < map.shown.size(); ++i) {
        if (!map.hidden.empty() && map.hidden[i] != 0) continue;
        const double middle = is_block ? map.mean[i] : map.shown[i];
        if (!std::isfinite(middle)) continue;
        out.low = std::min<double>(out.low, is_block ? map.low[i] : map.shown[i]);
        out.high = std::max<double>(out.high, is_block ? map.high[i] : map.shown[i]);
        // A block on the edge of what is seen counts with the values that it has.
        const auto row = int64_t(i) / map.columns, column = int64_t(i) % map.columns;
        const int64_t count = !is_block           ? 1
                              : map.count.empty() ? form.seen(row, column, map.block)
                                                  : int64_t(map.count[i]);
        const double size = !is_block ? map.shown[i] : map.norm.empty() ? 0 : map.norm[i];
        sum += middle * double(count);
        sizes += std::abs(middle) * double(count);
        squares += size * size;
        out.count += count;
    }
    // What is left of values that cancel is their rounding.
    out.mean = std::abs(sum) > 1e-6 * sizes ? sum / double(out.count) : 0;
    out.norm = is_block && map.norm.empty() ? std::numeric_limits<double>::quiet_NaN()
                                            : std::sqrt(squares);
    if (form.layout == BiasLayout::kernel_2d || form.rows == 1) {
        kernel_statistics(form, map, quantity, out);
        return out;
    }
    if (!map.block.is_single()) return out;
    for (int64_t r = 0; r < map.rows; ++r) {
        const auto at = size_t(r * map.columns), n = size_t(map.columns);
        const std::span<const uint8_t> hidden(map.hidden);
        out.entropy += mass_of(std::span(map.shown).subspan(at, n),
                               hidden.empty() ? hidden : hidden.subspan(at, n), quantity)
                           .entropy;
    }
    out.entropy /= double(std::max<int64_t>(1, map.rows));
    return out;
}

void BiasInspector::refresh(const PaneContext& ui, const BiasForm& form, const BiasLayers& layers) {
    const int64_t layer = ui.selection.shown().layer;
    const int64_t head =
        form.heads > 1 ? std::clamp<int64_t>(ui.selection.shown().head, 0, form.heads - 1) : 0;
    const Coloring coloring = layers.coloring(ui, layer, head);
    const uint64_t version = layers.layer(layer).version;
    const bool same_map = layer == layer_ && head == head_ && version == version_;
    if (same_map && coloring == coloring_) return;
    if (!same_map) {
        values_ = Distribution(layers.visible_values(layer, head));
        statistics_ =
            bias_statistics(form, layers.layer(layer).maps[size_t(head)], ui.selection.quantity);
    }
    bars_ = values_.histogram(coloring.range, coloring.scale, 60);
    clipped_ = values_.clipped_share(coloring.range);
    layer_ = layer;
    head_ = head;
    version_ = version;
    coloring_ = coloring;
}

namespace {

// Where a step's biases alone are stored: all of them are written, along a first axis.
std::string moments_note(const ViewState& ui, int64_t step) {
    const auto at = std::lower_bound(ui.history.begin(), ui.history.end(), step);
    return fmt::format(
        "It writes every stored step; step {} is place {} of {} along its first "
        "axis, from 0.",
        group_thousands(step), at - ui.history.begin(), ui.history.size());
}

// The change since the newest pin: two stored steps of the run.
CopiedCommand change_command(const ViewState& ui, const BiasForm& form, const BiasLayers& layers,
                             int64_t layer) {
    if (!layers.has(layer)) return {"", "Nothing is shown yet."};
    const FieldSetPtr now = layers.layer(layer).watch.fields(),
                      before = layers.layer(layer).pinned.fields();
    if (!now || !before || now->fields.empty() || before->fields.empty())
        return {"", "Nothing is shown yet."};
    MapsToCompare maps{.a = ui.status.path, .b = ui.status.path};
    maps.step_a = before->fields.front().step;
    maps.step_b = now->fields.front().step;
    for (const int64_t step : {maps.step_a, maps.step_b})
        if (!std::binary_search(ui.history.begin(), ui.history.end(), step))
            return {"", fmt::format("Step {} is not stored: no command reads it.",
                                    group_thousands(step))};
    maps.layer = layer;
    if (form.has_heads()) maps.head = std::max<int64_t>(0, ui.selection.shown().head);
    maps.quantity = ui.selection.quantity;
    maps.gauge = ui.selection.gauge;
    maps.is_kernel = form.is_kernel();
    maps.matches = false;  // they are of one run
    maps.file = fmt::format("change-layer-{}.npy", layer);
    return {.command = compare_command(maps), .why_not = {}};
}

}  // namespace

CopiedCommand bias_command(const ViewState& ui, const BiasForm& form, const BiasLayers& layers,
                           int64_t layer) {
    if (shows_change(ui)) return change_command(ui, form, layers, layer);
    const FieldSetPtr fields = layers.has(layer) ? layers.layer(layer).watch.fields() : nullptr;
    if (!fields || fields->fields.empty()) return {"", "Nothing is shown yet."};
    const int64_t step = fields->fields.front().step;
    CopiedCommand out{.command = {}, .why_not = why_no_command(ui, step)};
    const bool is_moment =
        !out.why_not.empty() && std::binary_search(ui.history.begin(), ui.history.end(), step);
    const std::string path = is_moment ? ui.status.path : checkpoint_file(ui.status.path, step);
    const char* const probe = form.is_kernel() ? "kernel" : "bias";
    out.command = fmt::format("afterimage probe {} {} --layer {} --quantity {}", probe,
                              shell_word(path), layer, quantity_option(ui.selection.quantity));
    if (!form.is_kernel())
        out.command += fmt::format(" --gauge {}", gauge_option(ui.selection.gauge));
    if (is_moment) {
        out.command += " --moments";
        out.why_not.clear();
        out.note = moments_note(ui, step);
    }
    out.command += fmt::format(" -o {}-layer-{}.npy", probe, layer);
    return out;
}

// Only where a map is drawn in blocks.
static void draw_block_value(PaneContext& ui) {
    label_column(ui, "Blocks");
    const Choice values[] = {
        {.text = "Extreme##extreme", .tip = "The value of the largest magnitude: none is lost."},
        {.text = "Mean##mean", .tip = "The mean of the block's visible values."}};
    int chosen = static_cast<int>(ui.selection.block_value);
    if (!segmented(ui, "Blocks##blocks", chosen,
                   {.list = values,
                    .width = -1,
                    .tip = "What is drawn where a map has more values than pixels."}))
        return;
    ui.selection.block_value = static_cast<BlockValue>(chosen);
    ui.selection.range_by_hand.reset();
}

void BiasInspector::draw(Ui& ui, const BiasForm& form, const BiasLayers& layers) {
    const Cell cell = ui.selection.shown();
    if (form.layout == BiasLayout::none || !layers.has(cell.layer) ||
        int64_t(layers.layer(cell.layer).maps.size()) != form.heads) {
        hint(ui, "Select a cell to see its value, range and statistics.");
        return;
    }
    refresh(ui, form, layers);
    const BiasMap& map = layers.layer(cell.layer).maps[size_t(head_)];
    const BiasReading reading = read_bias(form, map, cell);
    draw_selection(ui, form, &reading);
    draw_range(ui, coloring_, &reading);
    draw_mask_legend(ui, map);
    if (!map.block.is_single()) draw_block_value(ui);
    draw_statistics(ui, form);
    section(ui, "Actions##actions");
    action_button(ui, "selection.pin");
    ImGui::SameLine(0, ui.px(8));
    copy_command_button(ui, bias_command(ui, form, layers, cell.layer));
    action_button(ui, "file.save_figure");
    action_button(ui, "lab.zero_selected");
    if (form.heads > 1) action_button(ui, "lab.off_selected");
}

void BiasInspector::draw_selection(PaneContext& ui, const BiasForm& form, const BiasReading* r) {
    section(ui, "Selection##selection", {}, false);
    const Positions positions(ui.status, r->cell.layer);
    const Quantity quantity = ui.selection.quantity;
    key_value(ui, "Layer##layer", layer_words(ui.status, r->cell.layer));
    if (has_layer_names(ui.status))
        tooltip(ui, {.name = "Layer " + full_layer_words(ui.status, r->cell.layer)});
    if (form.is_kernel() || form.has_heads())
        key_value(ui, "Head##head", std::to_string(std::max<int64_t>(0, r->cell.head)));
    if (form.is_kernel()) {
        if (r->cell.tap >= 0)
            key_value(
                ui,
                form.layout == BiasLayout::kernel_2d ? "Cell (dy, dx)##offset" : "Offset##offset",
                tap_words(form, r->cell));
    } else if (r->cell.target >= 0) {
        key_value(ui, "Target t##target", positions.target_words(r->cell.target));
        if (r->cell.source >= 0) {
            key_value(ui, "Source t\u2032##source", positions.source_words(r->cell.source));
            if (const std::string words = shift_words(positions); !words.empty())
                hint(ui, words + ".");
        }
    }
    if (r->is_hidden) {
        hint(ui, r->is_masked ? "The bias masks this source: w = \u2212\u221E."
                              : "This source is not visible from the target.");
        return;
    }
    if (std::isnan(r->value)) {
        hint(ui, "Select a cell to see its value.");
        return;
    }
    if (!r->block.is_single()) {
        key_value(ui,
                  fmt::format("Mean of {}\u00D7{}##mean_of_block", r->block.rows, r->block.columns),
                  shown_value(ui, r->mean));
        key_value(ui, "Smallest##smallest", shown_value(ui, r->low));
        key_value(ui, "Largest##largest", shown_value(ui, r->high));
        return;
    }
    key_value(ui, {bias_words(ui), "value"}, shown_value(ui, r->value));
    if (shows_change(ui)) return;
    if (!std::isnan(r->w)) key_value(ui, "w", shown_value(Quantity::w, r->w));
    if (quantity == Quantity::w)
        key_value(ui, "exp(w)\u22121##exp_minus_one",
                  shown_value(Quantity::exp_minus_one, std::expm1(r->value)));
}

static void record_bar(DrawContext& ui, const viz::Box& bar, const Range& range) {
    ui.recorder.area({.kind = "bar",
                      .path = ui.recorder.claim("Colour bar##colour_bar"),
                      .min = bar.low,
                      .max = bar.high,
                      .value = fmt::format("{:.6g} to {:.6g}", range.low, range.high),
                      .why_not = {}});
}

// Of the ends of a range; -1, powers of ten, where the bar has them, too.
static int range_decimals(double top) {
    if (top >= 10) return top >= 1000 ? 0 : 1;
    if (top >= 0.1) return 3;
    return top >= 0.01 ? 4 : top >= 0.001 ? 5 : -1;
}

void BiasInspector::draw_range(PaneContext& ui, const Coloring& coloring,
                               const BiasReading* reading) {
    Selection& s = ui.selection;
    const std::string note = s.range_by_hand                  ? "set by hand"
                             : s.range_mode == RangeMode::own ? "of this map"
                             : s.range_mode == RangeMode::layer
                                 ? fmt::format("shared by layer {}", layer_)
                                 : "shared by all layers";
    section(ui, "Range##range", note);
    const bool has_change = shows_change(ui);
    const bool has_floor = s.quantity == Quantity::exp_minus_one && !has_change;
    viz::ColorBarView view;
    view.coloring = coloring;
    view.width = ImGui::GetContentRegionAvail().x - ui.px(6);
    view.histogram = bars_;
    view.clipped = clipped_;
    view.low_locked = !has_change && (has_floor || !is_signed(s.quantity));
    view.percent = s.quantity == Quantity::row_share;
    if (!std::isnan(reading->value)) view.marker = reading->value;
    ImGui::SetCursorPosX(ImGui::GetCursorPosX() + ui.px(3));
    const viz::ColorBarReply reply = draw_color_bar(view, ui);
    record_bar(ui, reply.bar, coloring.range);
    Range range = reply.changed ? reply.range : coloring.range;
    bool changed = reply.changed;
    const int decimals = range_decimals(std::max(std::abs(range.low), std::abs(range.high)));
    const float half = (ImGui::GetContentRegionAvail().x - ui.px(8)) / 2 / ui.scale;
    changed |= drag_field(ui,
                          {.name = "Low end##low",
                           .max = range.high,
                           .decimals = decimals,
                           .prefix = "low",
                           .tip = "The value at the low end of the colours.",
                           .locked = view.low_locked,
                           .width = half,
                           .drag_speed = float(range.high - range.low) / 300},
                          range.low);
    ImGui::SameLine(0, ui.px(8));
    changed |= drag_field(ui,
                          {.name = "High end##high",
                           .min = range.low,
                           .decimals = decimals,
                           .prefix = "high",
                           .tip = "The value at the high end of the colours.",
                           .width = half,
                           .drag_speed = float(range.high - range.low) / 300},
                          range.high);
    if (changed && range.high > range.low) {
        if (has_change || (s.quantity == Quantity::w && s.symmetric)) {
            const bool low_moved = range.high == coloring.range.high;
            const double m = std::max(1e-9, low_moved ? -range.low : range.high);
            range = {-m, m};
        }
        if (has_floor) range.low = std::max(-1.0, -range.high);
        s.range_by_hand = range;
    }
    if (reply.reset) s.range_by_hand.reset();
    draw_bias_limits(ui);
}

void BiasInspector::draw_statistics(PaneContext& ui, const BiasForm& form) {
    const bool is_fixed = !form.is_kernel() && ui.selection.gauge == Gauge::fixed;
    section(ui, {shows_change(ui) ? "Change" : "Statistics", "statistics"},
            (form.heads > 1 ? fmt::format("layer {}, head {}", layer_, head_)
                            : fmt::format("layer {}", layer_)) +
                (is_fixed ? ", gauge fixed" : ", raw gauge"));
    const MapStatistics& s = statistics_;
    if (s.count == 0) return;
    key_value(ui, "Minimum##minimum", shown_value(ui, s.low));
    key_value(ui, "Maximum##maximum", shown_value(ui, s.high));
    const std::string pairs = of_what(form.is_kernel());
    key_value(ui, {"Mean, " + pairs, "mean"}, shown_value(ui, s.mean));
    const BiasLayout layout = form.layout;
    if (std::isfinite(s.norm))
        key_value(ui, {std::string(kFrobeniusNorm) + ", " + pairs, "norm"}, stored_value(s.norm));
    if (shows_change(ui)) return;
    if (layout == BiasLayout::kernel_2d || form.rows == 1) {
        key_value(ui, "Entropy of kernel##entropy_of_kernel", plain_number(s.entropy, 2), "bit");
        const Positions positions(ui.status, layer_);
        key_value(ui, "Mean distance##mean_distance", plain_number(s.mean_distance, 2),
                  positions.channels > 1 ? "cells" : positions.several());
        key_value(
            ui,
            {std::string("Mass within 1 ") + (positions.channels > 1 ? "cell" : positions.one()),
             "mass_within_1"},
            plain_number(100 * s.within_one, 2), "%");
    } else if (s.entropy > 0) {
        key_value(ui, "Entropy of rows##entropy_of_rows", plain_number(s.entropy, 2), "bit");
    } else {
        hint(ui, "Entropy is shown where every value is drawn by itself.");
    }
}

}  // namespace aft::app
