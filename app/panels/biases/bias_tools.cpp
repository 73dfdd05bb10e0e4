#include "app/panels/biases/bias_tools.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/panels/shared/layer_words.h"
#include "app/panels/shared/model_state.h"
#include "app/panels/shared/tool_row.h"
#include "app/state/probe_options.h"
#include "app/widgets/buttons.h"
#include "app/widgets/states.h"
#include "core/text.h"

namespace aft::app {

namespace {

std::string quantity_sentence(Quantity quantity) {
    switch (quantity) {
        case Quantity::w:
            return "The position bias that is added to the key of source j for target t.";
        case Quantity::exp_minus_one:
            return "What the bias adds to a weight of 1: 0 is no bias, \u22121 shuts a source off.";
        case Quantity::exp:
            return "The factor on the weight of source j.";
        case Quantity::row_share:
            return "The share of the target's attention by position alone; a row sums to 100 %.";
    }
    return "";
}

std::string quantity_formula(Quantity quantity) {
    switch (quantity) {
        case Quantity::w:
            return "w[t,j]";
        case Quantity::exp_minus_one:
            return "exp(w[t,j]) \u2212 1";
        case Quantity::exp:
            return "exp(w[t,j])";
        case Quantity::row_share:
            return "exp(w[t,j]) / \u03A3 exp(w[t,j'])";
    }
    return "";
}

void quantity_tool(PaneContext& ui, const BiasForm& form) {
    Selection& s = ui.selection;
    std::vector<Choice> choices;
    for (const Quantity quantity : kQuantities) {
        Choice choice{.text = {quantity_words(quantity), quantity_option(quantity)},
                      .tip = quantity_sentence(quantity),
                      .formula = quantity_formula(quantity)};
        if (form.is_kernel() && quantity_of_kernel(quantity) != quantity)
            choice.why_not = "A kernel has no rows of its own; the sequence's edge decides them.";
        choices.push_back(choice);
    }
    int chosen = static_cast<int>(s.quantity);
    if (!segmented(ui, "Quantity##quantity", chosen, {choices})) return;
    s.quantity = static_cast<Quantity>(chosen);
    s.range_by_hand.reset();
}

// What the maps show: the values, or what has changed in them since the newest pin.
void change_tool(Ui& ui) {
    const std::string why = ui.actions.why_not(ui, "map.difference_to_pin");
    const Choice choices[] = {{.text = "Value##value", .tip = "The values as they are."},
                              {.text = "Change since pin##change_since_pin",
                               .why_not = why,
                               .tip = "What training has changed since the step of the newest pin.",
                               .formula = "value(now) \u2212 value(pin)"}};
    int chosen = shows_change(ui) ? 1 : 0;
    if (segmented(ui, "Compare##compare", chosen, {choices}))
        (void)ui.actions.run(ui, "map.difference_to_pin");
}

void range_tool(PaneContext& ui) {
    Selection& s = ui.selection;
    inline_label(ui, "Range");
    const Choice choices[] = {
        {.text = "Own##own",
         .tip = "Every map has limits of its own: shapes compare, sizes do not."},
        {.text = "Layer##layer", .tip = "The maps of a layer share their limits."},
        {.text = "Global##global",
         .tip = "All maps share their limits: sizes compare everywhere."}};
    int chosen = static_cast<int>(s.range_mode);
    if (!segmented(ui, "Range##range", chosen, {choices})) return;
    s.range_mode = static_cast<RangeMode>(chosen);
    s.range_by_hand.reset();
}

void scale_tool(PaneContext& ui) {
    Selection& s = ui.selection;
    inline_label(ui, "Scale");
    const std::string why =
        s.quantity == Quantity::exp_minus_one ? "" : "This quantity is drawn on a linear scale.";
    const Choice choices[] = {{.text = "Signed log##signed_log",
                               .why_not = why,
                               .tip = "Small and large values both show; equal steps of colour "
                                      "below and above 0.",
                               .formula = "sign(v) log(1 + |v| / c)"},
                              {.text = "Two-sided##two_sided",
                               .why_not = why,
                               .tip = "Linear, below 0 to the low end, above 0 to the high end."}};
    int chosen = s.quantity != Quantity::exp_minus_one ? -1 : s.scale == Scale::two_sided ? 1 : 0;
    if (segmented(ui, "Scale##scale", chosen, {choices}))
        s.scale = chosen == 1 ? Scale::two_sided : Scale::signed_log;
}

void gauge_tool(PaneContext& ui) {
    Selection& s = ui.selection;
    inline_label(ui, "Gauge");
    const Choice choices[] = {
        {.text = "Raw##raw", .tip = "w as it is stored.", .formula = "w[t,j]"},
        {.text = "Fixed##fixed",
         .tip = "Takes a constant out of every row, which the model cannot feel, so that steps and "
                "runs can be compared. A row with visible sources outside of the window has no "
                "such constant and stays.",
         .formula = "w'[t,j] = w[t,j] \u2212 log mean_j exp(w[t,j])"}};
    int chosen = s.gauge == Gauge::fixed ? 1 : 0;
    if (segmented(ui, "Gauge##gauge", chosen, {choices}))
        s.gauge = chosen == 1 ? Gauge::fixed : Gauge::raw;
}

}  // namespace

void bias_tools(Ui& ui, const BiasForm& form, float available, std::span<const Tool> own) {
    quantity_tool(ui, form);
    std::vector<Tool> tools = {{200, [&] { change_tool(ui); }}, {224, [&] { range_tool(ui); }}};
    if (!form.is_kernel()) tools.push_back({166, [&] { gauge_tool(ui); }});
    if (ui.selection.quantity == Quantity::exp_minus_one && !shows_change(ui))
        tools.push_back({236, [&] { scale_tool(ui); }});
    tools.insert(tools.end(), own.begin(), own.end());
    tool_row(ui, available - ui.px(274), tools);
}

void draw_bias_caption(PaneContext& ui, std::string_view title, std::string words,
                       const BiasLayer& layer) {
    const float needed = text_extent(ui, title, text_size::label, Face::semibold).x + ui.px(10) +
                         text_extent(ui, words, text_size::hint).x;
    const std::string model = step_words(ui, layer.watch.fields()) + "  \u00B7  ";
    const size_t at = words.find(model);
    if (needed > ImGui::GetContentRegionAvail().x && at != std::string::npos)
        words = model + words.erase(at, model.size());
    caption(ui, title, words);
}

// Where to look instead, for a mixer without a map.
static std::string no_bias_words(const Status& status) {
    const MixerTraits& mixer = status.mixer;
    const std::string none = mixer.no_bias + "; ";
    if (status.task.is_mixer_alone) return none + "and a mixer alone has no input to look at.";
    if (!mixer.has_attention && !mixer.has_key_maps)
        return none + "nor has it maps of keys or of attention.";
    if (!mixer.has_prior()) return none + "what its heads attend to is in the Attention workspace.";
    return none + "its keys and attention are in the Attention workspace.";
}

bool bias_state(Ui& ui, const BiasForm& form) {
    const bool is_unread = ui.history.empty() || ui.status.layers.empty();
    if (ui.has_model() && ui.status.following && is_unread) {
        empty_state(
            ui, {.drawing = Drawing::grid,
                 .title = "Waiting for the first checkpoint",
                 .sentence = "Another process trains this run and has stored no weights yet. Its "
                             "position biases come with the first stored step or "
                             "checkpoint; its curves are in the Train workspace.",
                 .primary = {},
                 .secondary = {},
                 .hint = {}});
        return true;
    }
    if (no_model_state(ui, Drawing::grid,
                       "Open a checkpoint or a run to see its position biases, layer by layer."))
        return true;
    if (form.layout != BiasLayout::none) return false;
    empty_state(ui, {.drawing = Drawing::grid,
                     .title = "No position bias in this model",
                     .sentence = no_bias_words(ui.status),
                     .primary = "file.open",
                     .secondary = "file.open_demo",
                     .hint = {},
                     .secondary_words = "Try the demo"});
    return true;
}

BiasReading read_bias(const BiasForm& form, const BiasMap& map, const Cell& cell) {
    BiasReading out;
    out.cell = cell;
    out.block = map.block;
    out.value = out.w = std::numeric_limits<double>::quiet_NaN();
    int64_t row = -1, column = -1;
    if (map.shown.empty() || !form.place(cell, row, column)) return out;
    const int64_t r = row / map.block.rows, c = column / map.block.columns;
    if (r >= map.rows || c >= map.columns) return out;
    const auto i = size_t(r * map.columns + c);
    out.is_hidden = !map.hidden.empty() && map.hidden[i] != 0;
    out.is_masked = !map.masked.empty() && map.masked[i] != 0;
    if (out.is_hidden) return out;
    out.value = map.shown[i];
    if (!map.block.is_single()) {
        if (!map.partly.empty() && map.partly[i] != 0) {
            out.seen = form.seen(r, c, map.block);
            out.masked = out.seen - int64_t(map.count[i]);
        }
        out.low = map.low[i];
        out.mean = map.mean[i];
        out.high = map.high[i];
        return out;
    }
    if (!map.w.empty()) out.w = map.w[i];
    for (size_t k = 0; k < map.shown.size(); ++k) {
        if (!map.hidden.empty() && map.hidden[k] != 0) continue;
        ++out.count;
        out.rank += map.shown[k] > map.shown[i] ? 1 : 0;
    }
    ++out.rank;
    return out;
}

std::string shown_value(const ViewState& ui, double value) {
    const std::string text = shown_value(ui.selection.quantity, value);
    const bool has_sign = is_signed(ui.selection.quantity) || !shows_change(ui) || value <= 0;
    return has_sign || text.find_first_of("123456789") == std::string::npos ? text : "+" + text;
}

std::vector<ReadOut> bias_read_out(const ViewState& ui, const BiasForm& form,
                                   const BiasReading& r) {
    std::vector<ReadOut> out = {{"layer", layer_words(ui.status, r.cell.layer)}};
    const Quantity quantity = ui.selection.quantity;
    if (form.is_kernel() || form.has_heads())
        out.push_back({"head", std::to_string(std::max<int64_t>(0, r.cell.head))});
    if (form.is_kernel()) {
        if (r.cell.tap >= 0)
            out.push_back({form.layout == BiasLayout::kernel_2d ? "dy, dx" : "offset",
                           tap_words(form, r.cell)});
    } else if (r.cell.target >= 0) {
        const Positions positions(ui.status, r.cell.layer);
        out.push_back({"t", positions.target_words(r.cell.target)});
        out.push_back(
            {"t\u2032", r.cell.source >= 0 ? positions.source_words(r.cell.source) : "none"});
    }
    const bool has_change = shows_change(ui);
    const char* const name = has_change ? "change" : quantity_words(quantity);
    if (r.is_hidden) {
        out.push_back({name, r.is_masked ? kMaskedWords : "not visible"});
        return out;
    }
    if (std::isnan(r.value)) return out;
    if (!r.block.is_single()) {
        out.push_back({"block", fmt::format("{}\u00D7{}", r.block.rows, r.block.columns)});
        out.push_back({"mean", shown_value(ui, r.mean), exact_number(float(r.mean))});
        out.push_back({"min", shown_value(ui, r.low), exact_number(float(r.low))});
        out.push_back({"max", shown_value(ui, r.high), exact_number(float(r.high))});
        if (r.masked > 0) out.push_back({"masked", fmt::format("{} of {}", r.masked, r.seen)});
        return out;
    }
    out.push_back({name, shown_value(ui, r.value), exact_number(float(r.value))});
    if (has_change) return out;
    if (!std::isnan(r.w))
        out.push_back({"w", shown_value(Quantity::w, r.w), exact_number(float(r.w))});
    if (quantity == Quantity::w)
        out.push_back({"exp(w)\u22121", shown_value(Quantity::exp_minus_one, std::expm1(r.value)),
                       exact_number(float(std::expm1(r.value)))});
    if (r.count > 0)
        out.push_back({"rank", group_thousands(r.rank) + " of " + group_thousands(r.count)});
    return out;
}

void draw_bias_limits(PaneContext& ui) {
    Selection& s = ui.selection;
    const bool has_change = shows_change(ui);
    const bool has_floor = s.quantity == Quantity::exp_minus_one;
    const Choice limits[] = {
        {.text = "Full##full"}, {.text = "99.8 %##inner_99_8"}, {.text = "99 %##inner_99"}};
    int chosen = s.range_by_hand ? -1 : s.percentile >= 100 ? 0 : s.percentile > 99.5 ? 1 : 2;
    if (segmented(ui, "Limits##limits", chosen,
                  {.list = limits,
                   .width = -1,
                   .tip = "The share of the values that the colours keep apart; the few beyond "
                          "take the end colours."})) {
        s.percentile = chosen == 0 ? 100 : chosen == 1 ? 99.8 : 99;
        s.range_by_hand.reset();
    }
    label_column(ui, "Symmetric");
    const char* const words = has_change                  ? "always round 0"
                              : s.quantity == Quantity::w ? s.symmetric ? "round 0" : "low to high"
                              : has_floor                 ? "round 0 down to \u22121"
                                                          : "off: from 0";
    bool on = has_change || (s.quantity == Quantity::w && s.symmetric);
    if (toggle(
            ui, "Symmetric##symmetric", on,
            {words,
             has_change                  ? "A change is always drawn round 0."
             : s.quantity == Quantity::w ? ""
             : has_floor ? "The ends are at the same distance from 0, but the low end stops at "
                           "\u22121, the least that this quantity can be."
                         : "This quantity is never below 0: its low end is 0.",
             "On: both ends at the same distance from 0, and moving one moves the other. Off: "
             "from the lowest to the highest value that the limits keep. 0 has the middle colour "
             "either way."})) {
        s.symmetric = on;
        if (on && s.range_by_hand) {
            const double m = std::max(-s.range_by_hand->low, s.range_by_hand->high);
            s.range_by_hand = m > 0 ? std::optional(Range{-m, m}) : std::nullopt;
        }
    }
}

void draw_mask_legend(const DrawContext& ui, const BiasMap& map) {
    if (map.masked.empty() && map.partly.empty()) return;
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const viz::Box box = {{at.x, at.y + ui.px(2)}, {at.x + ui.px(24), at.y + ui.px(14)}};
    viz::draw_mask_hatch(ui, box);
    text_at(ui, {box.high.x + ui.px(8), at.y},
            std::string(kMaskedWords) + (map.partly.empty() ? "" : "; grey: in part"),
            {text_size::hint, ui.theme.text2});
    ImGui::Dummy({1, ui.px(18)});
}

}  // namespace aft::app
