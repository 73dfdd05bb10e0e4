#include "app/panels/lab/lab_maps.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/panels/lab/lab_region.h"
#include "app/panels/lab/lab_words.h"
#include "app/panels/shared/bias_values.h"
#include "app/state/probe_options.h"
#include "app/widgets/text.h"
#include "core/text.h"

namespace aft::app {

namespace {

ProbeRequest map_request(const BiasForm& form, int64_t layer, Blocks block) {
    ProbeRequest request;
    request.layer = layer;
    if (form.is_kernel()) {
        request.probe = "kernel";
        kQuantityOption.set(request, Quantity::w);
        return request;
    }
    request.probe = "bias";
    kQuantityOption.set(request, Quantity::w);
    kGaugeOption.set(request, Gauge::raw);
    kVisibleOption.set(request, HiddenSources::nan);
    const bool is_band = form.layout == BiasLayout::band;
    if (is_band) kViewOption.set(request, BiasView::band);
    if (!block.is_single() && !(is_band && form.is_read_whole()))
        request.options[kBlocksOption] = std::to_string(std::max(block.rows, block.columns));
    return request;
}

// Of the blocks that the probe made, or as asked for where it gave single values.
Blocks block_of(const ProbeRequest& shown, Blocks asked) {
    const auto found = shown.options.find(kBlocksOption);
    if (found == shown.options.end()) return asked;
    const int64_t side = std::stoll(found->second);
    return {side, side};
}

}  // namespace

void LabMaps::update(PaneContext& ui, const MapOf& of, const Recipe& recipe) {
    const auto& [form, layer, head, block] = of;
    bool is_new = head != head_;
    head_ = head;
    for (size_t i = 0; i < maps_.size(); ++i) {
        ProbeRequest request = map_request(form, layer, block);
        request.step = lab_step(ui).value_or(MeasuredStep{.asked = -1}).asked;
        if (i == 1) request.recipe = recipe;
        is_new |= maps_[i].watch.update(ui, request, maps_[i].turn);
        maps_[i].turn = {};
    }
    if (!is_new) return;
    std::vector<float> seen;
    for (LabMap& one : maps_) {
        if (!one.watch.fields()) continue;
        one.map = map_of_fields({*one.watch.fields(), nullptr}, form, head,
                                block_of(one.watch.shown(), block));
        one.version = ++versions_;
        for (size_t k = 0; k < one.map.shown.size(); ++k)
            if (one.map.hidden.empty() || one.map.hidden[k] == 0) seen.push_back(one.map.shown[k]);
    }
    // To the largest w, which blocks keep: a percentile of their extremes depends on their size.
    range_ = quantity_limits(Quantity::w, seen, 100, true);
}

void LabMaps::take_region(PaneContext& ui, const MapOf& of, const viz::MapReply& reply) {
    dragged_ = reply.is_region_done ? viz::MapRegion{} : reply.region;
    LabChoice& lab = ui.selection.lab;
    if (!reply.is_region_done || lab.chosen >= lab.recipe.interventions.size()) return;
    Intervention one = lab.recipe.interventions[lab.chosen];
    set_region(region_of_cells(of.form, maps_[0].map.block, reply.region), *info_of(one), one);
    if (one == lab.recipe.interventions[lab.chosen]) return;
    lab.begin_edit("");
    lab.recipe.interventions[lab.chosen] = one;
}

void LabMaps::draw_map(PaneContext& ui, const MapOf& of, size_t which, const viz::Box& box) {
    LabMap& one = maps_[which];
    viz::MapView view;
    view.id = which == 0 ? "lab before" : "lab after";
    view.data = one.map.data(one.version);
    view.coloring = {range_, Scale::signed_linear, ui.theme.diverging};
    view.area = {box.width(), box.height()};
    view.free_axes = of.form.has_free_axes();
    view.numbers = false;
    view.is_signed = true;
    view.dimmed = one.watch.is_pending();
    const Intervention& chosen = ui.selection.lab.recipe.interventions[ui.selection.lab.chosen];
    const InterventionInfo* const info = info_of(chosen);
    view.selects = which == 0 && takes_region(*info);
    if (takes_region(*info))
        view.region = which == 0 && dragged_.is_valid()
                          ? dragged_
                          : cells_of_region(of.form, one.map.block, region_of(chosen, *info));
    ImGui::SetCursorScreenPos(box.low);
    const viz::MapReply reply = one.view.draw(view, ui);
    if (view.selects) take_region(ui, of, reply);
    const std::string words = which == 1 ? "after" : "before";
    text_at(ui, {box.low.x, box.high.y + ui.px(4)}, words, {text_size::hint, ui.theme.text2});
    const auto& shown = one.map.shown;
    double norm = 0;
    for (size_t i = 0; i < shown.size(); ++i)
        if (one.map.hidden.empty() || one.map.hidden[i] == 0) norm += double(shown[i]) * shown[i];
    ui.recorder.area(
        {.kind = "map",
         .path = ui.recorder.claim(which == 0 ? "Before##map_before" : "After##map_after"),
         .min = reply.map.low,
         .max = reply.map.high,
         .value = shown.empty() ? "loading"
                                : fmt::format("{}x{} norm {:.4g}", one.map.rows, one.map.columns,
                                              std::sqrt(norm)),
         .why_not = {}});
}

void LabMaps::draw(PaneContext& ui, const Recipe& recipe) {
    const LabChoice& lab = ui.selection.lab;
    if (lab.chosen >= lab.recipe.interventions.size()) return;
    const Intervention& chosen = lab.recipe.interventions[lab.chosen];
    const InterventionInfo* const info = info_of(chosen);
    if (info == nullptr || !info->edits_bias || !ui.status.mixer.has_bias()) return;
    if (const std::string why = why_not_fit(ui, chosen); !why.empty()) {
        section(ui, "w, before and after##maps");
        hint(ui, "Not drawn: " + why + ".");
        return;
    }
    const int64_t layers = std::max<int64_t>(1, int64_t(ui.status.layers.size()));
    const int64_t layer = std::clamp<int64_t>(
        chosen.layer < 0 ? ui.selection.cell.layer : chosen.layer, 0, layers - 1);
    MapOf of{.form = BiasForm(ui.status, layer), .layer = layer};
    of.head = std::clamp<int64_t>(chosen.head < 0 ? ui.selection.cell.head : chosen.head, 0,
                                  of.form.heads - 1);
    std::string title = fmt::format("Layer {}", layer);
    if (of.form.heads > 1) title += fmt::format(", head {}", of.head);
    section(ui, WidgetName(title, "maps"), "w, before and after");
    const float gap = ui.px(12), width = ImGui::GetContentRegionAvail().x;
    const float side = std::floor(std::min((width - gap) / 2, ui.px(180)));
    of.block = of.form.blocks_for({side, side});
    update(ui, of, recipe);
    const ImVec2 at = ImGui::GetCursorScreenPos();
    draw_map(ui, of, 0, {at, {at.x + side, at.y + side}});
    // The answer from before the error is of another recipe.
    const std::string& error = maps_[1].watch.error();
    if (error.empty())
        draw_map(ui, of, 1, {{at.x + side + gap, at.y}, {at.x + side + gap + side, at.y + side}});
    ImGui::SetCursorScreenPos({at.x, at.y + side + ui.px(22)});
    const bool is_read = !maps_[0].map.shown.empty();
    const std::string range = !is_read ? std::string("Reading w...")
                                       : fmt::format("w from {} to {}, both in one range, linear",
                                                     shown_value(Quantity::w, range_.low),
                                                     shown_value(Quantity::w, range_.high));
    hint(ui, range);
    if (takes_region(*info)) hint(ui, "Dragging over the map before chooses the region.");
    if (!error.empty()) hint(ui, "No map of after the recipe: " + error + ".");
}

}  // namespace aft::app
