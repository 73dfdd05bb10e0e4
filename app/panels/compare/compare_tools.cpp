#include "app/panels/compare/compare_tools.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/panels/compare/compare_tables.h"
#include "app/panels/compare/slots_command.h"
#include "app/panels/shared/layer_words.h"
#include "app/panels/shared/norm_words.h"
#include "app/panels/shared/positions.h"
#include "app/panels/shared/tool_row.h"
#include "app/state/probe_options.h"
#include "app/widgets/buttons.h"
#include "app/widgets/combo.h"
#include "app/widgets/fields.h"
#include "app/widgets/text.h"
#include "core/text.h"

namespace aft::app {

namespace {

bool has_kernels(const CompareSlots& slots) {
    return std::any_of(slots.all().begin(), slots.all().end(), [](const ComparedSlot& slot) {
        return slot.has_bias() && slot.form->is_kernel();
    });
}

void choose_view(PaneContext& ui) {
    static const std::vector<Choice> kViews = {
        {.text = "Side by side##side_by_side"},
        {.text = "Flicker##flicker", .tip = "One map; hold H for the other one."},
        {.text = "Split##split", .tip = "Left of the line A, right of it the other one."},
        {.text = "Difference##difference", .tip = "The other one minus A."},
        {.text = "Ratio##ratio",
         .tip =
             "exp(w) of the other one over exp(w) of A, minus 1: expm1 of the difference of w."}};
    int chosen = static_cast<int>(ui.selection.compare.view);
    if (segmented(ui, "View##view", chosen, {kViews}))
        ui.selection.compare.view = static_cast<CompareView>(chosen);
}

void choose_quantity(PaneContext& ui, const CompareSlots& slots) {
    inline_label(ui, "Quantity");
    std::vector<std::string> list;
    for (const Quantity quantity : kQuantities)
        if (!has_kernels(slots) || quantity_of_kernel(quantity) == quantity)
            list.push_back(
                fmt::format("{}##{}", quantity_words(quantity), quantity_option(quantity)));
    int chosen = static_cast<int>(ui.selection.quantity);
    if (!combo(ui, "Quantity##quantity", chosen, {.list = list, .width = 110})) return;
    ui.selection.quantity = static_cast<Quantity>(chosen);
    ui.selection.range_by_hand.reset();
}

void choose_gauge(PaneContext& ui) {
    inline_label(ui, "Gauge");
    const Choice choices[] = {{.text = "Raw##raw", .tip = "w as it is stored."},
                              {.text = "Fixed##fixed",
                               .tip = "Without the constant of every row that the model cannot "
                                      "feel: two runs can be compared."}};
    int chosen = ui.selection.gauge == Gauge::fixed ? 1 : 0;
    if (segmented(ui, "Gauge##gauge", chosen, {choices}))
        ui.selection.gauge = chosen == 1 ? Gauge::fixed : Gauge::raw;
}

constexpr float kNumber = 64, kName = 180;  // of the list of layers

// By the names of A.
void choose_layer(PaneContext& ui, int64_t layers, const Status* named) {
    inline_label(ui, "Layer");
    const bool has_names = named != nullptr && has_layer_names(*named);
    std::vector<std::string> list;
    for (int64_t i = 0; i < layers; ++i)
        list.push_back(
            fmt::format("{}##{}", has_names ? layer_words(*named, i) : std::to_string(i), i));
    int chosen = static_cast<int>(ui.selection.cell.layer);
    const float width = has_names ? kName : kNumber;
    const std::string tip =
        has_names ? "Layer " + full_layer_words(*named, ui.selection.cell.layer) + "." : "";
    if (!combo(ui, "Layer##layer", chosen, {.list = list, .width = width, .tip = tip})) return;
    ui.selection.unlock();
    ui.selection.cell.layer = chosen;
}

void choose_head(PaneContext& ui, int64_t heads) {
    inline_label(ui, "Head");
    std::vector<std::string> list;
    for (int64_t i = 0; i < heads; ++i) list.push_back(fmt::format("{0}##{0}", i));
    int chosen = static_cast<int>(std::clamp<int64_t>(ui.selection.cell.head, 0, heads - 1));
    if (!combo(ui, "Head##head", chosen, {.list = list, .width = 64})) return;
    ui.selection.unlock();
    ui.selection.cell.head = chosen;
}

void choose_matching(PaneContext& ui) {
    inline_label(ui, "Heads");
    const Choice choices[] = {
        {.text = "Matched##matched",
         .tip = "One to one, so that the sum of the correlations of their maps is the largest."},
        {.text = "In order##in_order", .tip = "Head 0 with head 0, and so on."}};
    int chosen = ui.selection.compare.matches ? 0 : 1;
    if (segmented(ui, "Heads##heads", chosen, {choices}))
        ui.selection.compare.matches = chosen == 0;
}

void choose_layer_matching(PaneContext& ui) {
    inline_label(ui, "Layers");
    const Choice choices[] = {
        {.text = "In order##in_order", .tip = "Layer 0 with layer 0, and so on."},
        {.text = "Matched##matched",
         .tip = "One to one, so that the sum of the mean scores of their heads is the largest: two "
                "runs may have the same in other layers."}};
    int chosen = ui.selection.compare.matches_layers ? 1 : 0;
    if (segmented(ui, "Which layers##which_layers", chosen, {choices}))
        ui.selection.compare.matches_layers = chosen == 1;
}

void choose_other(PaneContext& ui, const CompareSlots& slots) {
    inline_label(ui, "A with");
    std::vector<Choice> choices;
    for (size_t i = 1; i < slots.size(); ++i) {
        const std::string& letter = slots.at(i).letter;
        choices.push_back({.text = WidgetName(letter, fmt::format("slot_{}", char('a' + i)))});
    }
    int chosen = static_cast<int>(ui.selection.compare.other) - 1;
    if (segmented(ui, "Compared with##compared_with", chosen, {choices}))
        ui.selection.compare.other = size_t(chosen) + 1;
}

void choose_split(PaneContext& ui) {
    NumberField field{.name = "Split##split_share", .min = 0, .max = 1, .standard = 0.5};
    field.decimals = 2;
    field.width = 160;
    inline_label(ui, "Line at");
    slider(ui, field, ui.selection.compare.split);
}

}  // namespace

bool compare_tools(PaneContext& ui, const CompareSlots& slots) {
    const Quantity quantity = quantity_of_kernel(ui.selection.quantity);
    if (has_kernels(slots) && quantity != ui.selection.quantity) {
        ui.selection.quantity = quantity;
        ui.selection.changes.forget_choices();  // nobody has chosen it
    }
    int64_t layers = 1;
    for (const ComparedSlot& slot : slots.all())
        if (slot.form) layers = std::max(layers, slot.form->layers);
    // The one selection stays inside the open model.
    if (ui.has_model()) layers = std::min(layers, int64_t(ui.status.layers.size()));
    const auto& first = slots.at(0).form;
    const int64_t heads = first ? matched_heads(*first) : 1;
    const float end = ImGui::GetCursorScreenPos().x + ImGui::GetContentRegionAvail().x;
    choose_view(ui);
    const float available = end - ImGui::GetItemRectMax().x - ui.px(12);
    bool fits = false;
    std::vector<Tool> tools;
    tools.push_back({38, [&] {
                         fits = button(ui, {.name = "Fit maps##fit_maps",
                                            .icon = icon::fit,
                                            .kind = ButtonKind::icon,
                                            .tip = "The whole maps."});
                     }});
    if (slots.size() > 2) tools.push_back({190, [&] { choose_other(ui, slots); }});
    if (ui.selection.compare.view == CompareView::split)
        tools.push_back({236, [&] { choose_split(ui); }});
    const Status* const named = slots.at(0).status;
    const float of_layers = named != nullptr && has_layer_names(*named) ? kName : kNumber;
    tools.push_back({54 + of_layers, [&] { choose_layer(ui, layers, named); }});
    if (heads > 1) {
        if (first->heads > 1) tools.push_back({118, [&] { choose_head(ui, heads); }});
        tools.push_back({224, [&] { choose_matching(ui); }});
    }
    if (layers > 1) tools.push_back({228, [&] { choose_layer_matching(ui); }});
    tools.push_back({190, [&] { choose_quantity(ui, slots); }});
    if (!has_kernels(slots)) tools.push_back({176, [&] { choose_gauge(ui); }});
    tool_row(ui, available, tools);
    return fits;
}

void lower_tools(PaneContext& ui, const std::string& words, bool* shows_maps) {
    static const std::vector<Choice> kParts = {{.text = "Largest changes##changes"},
                                               {.text = "Layers##layers"},
                                               {.text = "Heads##heads"},
                                               {.text = "Curves##curves"},
                                               {.text = "Settings##settings"}};
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float right = at.x + ImGui::GetContentRegionAvail().x;
    int& lower = ui.selection.compare.lower;
    if (shows_maps == nullptr) {
        (void)segmented(ui, "Below##below", lower, {kParts});
    } else {
        std::vector<Choice> parts = {{.text = "Maps##maps"}};
        parts.insert(parts.end(), kParts.begin(), kParts.end());
        int chosen = *shows_maps ? 0 : lower + 1;
        (void)segmented(ui, "Below##below", chosen, {parts});
        *shows_maps = chosen == 0;
        if (chosen > 0) lower = chosen - 1;
    }
    const float used = ImGui::GetItemRectMax().x + ui.px(12);
    if (words.empty() || right - used < ui.px(60)) return;
    text_at(ui, {used, at.y + ui.px(6)}, words,
            {text_size::hint, ui.theme.text3, Face::regular, right - used});
    ui.recorder.area({.kind = "progress",
                      .path = ui.recorder.claim("Progress##progress"),
                      .min = {used, at.y},
                      .max = {right, at.y + ui.px(26)},
                      .value = words,
                      .why_not = {}});
}

std::string compare_caption(const PaneContext& ui, const CompareSlots& slots,
                            const std::string& scale_words) {
    const CompareChoice& compare = ui.selection.compare;
    const std::string other = compare.other < slots.size() ? slots.at(compare.other).letter : "B";
    std::string out = scale_words;
    const auto add = [&](const std::string& words) { out += (out.empty() ? "" : ", ") + words; };
    add(compare.links_range ? "one range for all slots" : "each slot its own range");
    if (compare.view == CompareView::difference)
        add("right: " + other + " \u2212 A, linear, symmetric round 0");
    if (compare.view == CompareView::ratio)
        add("right: exp(w), " + other + "/A \u2212 1, signed log");
    if (!has_kernels(slots)) add(ui.selection.gauge == Gauge::fixed ? "gauge fixed" : "raw gauge");
    // The heads above the maps name the slots; where two maps take turns one of them is hidden.
    if (compare.view != CompareView::flicker) return out;
    for (size_t i = 0; i < slots.size(); ++i)
        if (i == 0 || i == compare.other)
            out += "  \u00B7  " + slots.at(i).letter + " " + slots.at(i).words();
    return out;
}

namespace {

void draw_distances(PaneContext& ui, const CompareSlots& slots, const CompareNumbers& numbers) {
    const size_t other = ui.selection.compare.other;
    const int64_t layer = ui.selection.cell.layer;
    const int64_t layer_b = other < slots.size() ? slots.at(other).layer_of(layer) : layer;
    const std::string letter = other < slots.size() ? slots.at(other).letter : "B";
    section(ui, WidgetName("A and " + letter, "distance"),
            fmt::format("layer {}, {}",
                        layer_b == layer || layer_b < 0 ? std::to_string(layer)
                                                        : fmt::format("{} and {}", layer, layer_b),
                        pairs_and_gauge(has_kernels(slots), ui.selection.gauge == Gauge::fixed)),
            false);
    const LayerNumbers* const of = numbers.layer(other, layer);
    if (of == nullptr || !of->error.empty()) {
        const std::string words = of != nullptr ? of->error : numbers_words(ui, slots, numbers);
        hint(ui, words.empty() ? "Reading" : words);
        return;
    }
    const auto value = [](double v, int decimals) {
        return std::isfinite(v) ? plain_number(v, decimals) : std::string("\u2013");
    };
    key_value(ui,
              {std::string(kFrobeniusNorm) + " of w, " + letter + " \u2212 A", "norm_of_change"},
              stored_value(of->all.norm_change));
    key_value(ui, "Relative to A##relative",
              std::isfinite(of->all.relative()) ? stored_value(of->all.relative()) : "\u2013");
    key_value(ui, "Correlation##correlation",
              std::isfinite(of->all.correlation) ? signed_number(of->all.correlation, 3)
                                                 : std::string("\u2013"));
    key_value(ui, "Removed by gauge##removed_by_gauge", value(100 * of->removed_by_gauge, 1),
              std::isfinite(of->removed_by_gauge) ? "%" : "");
    if (of->matching.pairs.size() > 1) {
        key_value(
            ui, "Heads, mean score##mean_score",
            std::isfinite(of->all.correlation) ? value(of->matching.mean_score(), 3) : "\u2013");
        hint(ui, !ui.selection.compare.matches ? "Heads in their order."
                 : of->matching.is_optimal
                     ? "Heads matched one to one: the largest sum of correlations."
                     : "Heads matched greedily, the most alike first: there are many.");
    }
}

// What stands at a source's place, where that is another one.
void places_hint(PaneContext& ui, const CompareSlots& slots) {
    if (slots.size() == 0 || slots.at(0).status == nullptr || has_kernels(slots)) return;
    if (const std::string words = shift_words(Positions(*slots.at(0).status)); !words.empty())
        hint(ui, words + ".");
}

}  // namespace

void compare_inspector(Ui& ui, const CompareSlots& slots, const CompareNumbers& numbers,
                       const ShownMaps& shown) {
    draw_distances(ui, slots, numbers);
    places_hint(ui, slots);
    section(ui, "Links##links");
    toggle(ui, "Zoom and pan##zoom_and_pan", ui.selection.compare.links_zoom,
           {.words = "Zoom and pan"});
    toggle(ui, "Range##range", ui.selection.compare.links_range, {.words = "Range"});
    section(ui, "Actions##actions");
    copy_command_button(ui, slots_command(ui, slots, shown),
                        "Copies the command that prints these tables and writes the maps that are "
                        "drawn.");
}

}  // namespace aft::app
