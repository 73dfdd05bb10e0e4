#include "app/state/view_file.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>
#include <span>

#include "app/state/open_path.h"
#include "app/state/picture_list.h"
#include "app/state/view_compare.h"
#include "app/state/view_keys.h"
#include "core/caught.h"
#include "core/files.h"
#include "core/json.h"
#include "core/outside.h"
#include "model/jobs/recipe.h"

namespace aft::app {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr uint64_t kMostViewBytes = uint64_t{4} << 20;
constexpr double kMostLength = 100000;  // as its field
constexpr const char* kViewKey = "afterimage_view";
constexpr const char* kMapsKey = "maps";
constexpr const char* kRangeModes[] = {"own", "layer", "global"};
constexpr const char* kMapOrders[] = {"position", "rms", "entropy", "distance", "change", "alike"};
static_assert(std::size(kMapOrders) == size_t(OrderKey::alike) + 1);
constexpr const char* kBlockValues[] = {"extreme", "mean"};
constexpr const char* kScaleNames[] = {"linear",        "root",       "log",
                                       "signed-linear", "signed-log", "two-sided"};
constexpr const char* kOverlayNames[] = {"none", "entropy", "bits", "spread", "original"};
static_assert(std::size(kOverlayNames) == size_t(Overlay::original) + 1);
constexpr const char* kToolNames[] = {"brush", "eraser", "rectangle"};
constexpr const char* kAttentionParts[] = {"prior", "content", "all"};
constexpr const char* kReduceNames[] = {"gate-mean", "mean", "chosen"};
constexpr const char* kOrderNames[] = {"gate", "sharpness", "divergence"};

std::vector<const char*> quantity_names() {
    std::vector<const char*> names;
    for (const Quantity quantity : kQuantities) names.push_back(quantity_option(quantity));
    return names;
}

std::vector<const char*> gauge_names() {
    return {gauge_option(Gauge::fixed), gauge_option(Gauge::raw)};
}

json maps_to_json(const MapDisplay& maps) {
    json out{{"quantity", quantity_option(maps.quantity)},
             {"gauge", gauge_option(maps.gauge)},
             {"range", kRangeModes[size_t(maps.range_mode)]},
             {"scale", kScaleNames[size_t(maps.scale)]},
             {"percentile", maps.percentile},
             {"symmetric", maps.symmetric},
             {"order", kMapOrders[size_t(maps.order)]},
             {"blocks", kBlockValues[size_t(maps.block_value)]},
             {"difference_to_pin", maps.difference_to_pin}};
    if (maps.range_by_hand) {
        out["low"] = maps.range_by_hand->low;
        out["high"] = maps.range_by_hand->high;
    }
    return out;
}

void take_maps(const ViewKeys& keys, MapDisplay& maps) {
    const double far = std::numeric_limits<float>::max();
    keys.take("quantity", maps.quantity, quantity_names());
    keys.take("gauge", maps.gauge, gauge_names());
    keys.take("range", maps.range_mode, kRangeModes);
    keys.take("scale", maps.scale, kScaleNames);
    keys.take("percentile", maps.percentile, {1, 100});
    keys.take("symmetric", maps.symmetric);
    keys.take("order", maps.order, kMapOrders);
    keys.take("blocks", maps.block_value, kBlockValues);
    keys.take("difference_to_pin", maps.difference_to_pin);
    if (!keys.has("low") || !keys.has("high")) return;
    Range range;
    keys.take("low", range.low, {-far, far});
    keys.take("high", range.high, {-far, far});
    if (range.low < range.high) maps.range_by_hand = range;
}

void take_completion(const ViewKeys& keys, CompletionChoice& completion) {
    SampleOptions& sample = completion.sample;
    auto seed = static_cast<int64_t>(sample.seed);
    keys.take("samples", sample.samples, {1, 1024});
    keys.take("temperature", sample.temperature, {0, 100});
    keys.take("top_k", sample.top_k, kViewCounts);
    keys.take("top_p", sample.top_p, {0, 1});
    keys.take("particles", sample.particles, {1, 1024});
    keys.take("seed", seed, {0, 9007199254740992.0});
    sample.seed = static_cast<uint64_t>(seed);
    keys.take("seed_locked", completion.seed_locked);
    keys.take("prompt", completion.prompt);
    keys.take("length", completion.length, {1, kMostLength});
    keys.take("overlay", completion.overlay, kOverlayNames);
    keys.take("tool", completion.tool, kToolNames);
    keys.take("brush", completion.brush, {0, 8});
    std::string pictures;
    keys.take("pictures", pictures);
    if (!pictures.empty())
        completion.pictures =
            with_context("sample.pictures", [&] { return parse_picture_list(pictures); });
}

json completion_to_json(const CompletionChoice& completion) {
    const SampleOptions& sample = completion.sample;
    return {{"samples", sample.samples},
            {"temperature", sample.temperature},
            {"top_k", sample.top_k},
            {"top_p", sample.top_p},
            {"particles", sample.particles},
            {"seed", sample.seed},
            {"seed_locked", completion.seed_locked},
            {"prompt", completion.prompt},
            {"length", completion.length},
            {"overlay", kOverlayNames[size_t(completion.overlay)]},
            {"tool", kToolNames[size_t(completion.tool)]},
            {"brush", completion.brush},
            {"pictures", picture_list_words(completion.pictures)}};
}

void take_cell(const ViewKeys& keys, Cell& cell) {
    keys.take("layer", cell.layer, kViewCounts);
    keys.take("head", cell.head, kViewIndices);
    keys.take("channel", cell.channel, kViewIndices);
    keys.take("target", cell.target, kViewIndices);
    keys.take("source", cell.source, kViewIndices);
    keys.take("tap", cell.tap, kViewIndices);
}

void take_batch(const ViewKeys& keys, LabChoice& lab) {
    keys.take("split", lab.split);
    keys.take("first", lab.first, kViewCounts);
    keys.take("examples", lab.examples, {2, 4096});
}

// What single panes choose for themselves.
json panes_to_json(const PaneChoice& panes) {
    return {{"parts", kAttentionParts[size_t(panes.parts)]},
            {"reduce", kReduceNames[size_t(panes.reduce)]},
            {"channel_order", kOrderNames[size_t(panes.channel_order)]},
            {"relative_examples", panes.relative_examples},
            {"structure_sort", panes.structure_sort},
            {"zoom", panes.focus.zoom},
            {"left", panes.focus.left},
            {"top", panes.focus.top},
            {"exact", panes.focus.is_exact}};
}

void take_choices(const ViewKeys& keys, PaneChoice& panes) {
    constexpr double kMostZoom = 4096, kMostScroll = 1e7, kMostColumns = 64;
    keys.take("parts", panes.parts, kAttentionParts);
    keys.take("reduce", panes.reduce, kReduceNames);
    keys.take("channel_order", panes.channel_order, kOrderNames);
    int64_t sort = panes.structure_sort, zoom = panes.focus.zoom;
    double left = panes.focus.left, top = panes.focus.top;
    keys.take("relative_examples", panes.relative_examples, {1, kMostRelativeExamples});
    keys.take("structure_sort", sort, {0, kMostColumns});
    keys.take("zoom", zoom, {0, kMostZoom});
    keys.take("left", left, {0, kMostScroll});
    keys.take("top", top, {0, kMostScroll});
    keys.take("exact", panes.focus.is_exact);
    panes.structure_sort = static_cast<int>(sort);
    panes.focus.zoom = static_cast<int>(zoom);
    panes.focus.left = static_cast<float>(left);
    panes.focus.top = static_cast<float>(top);
}

void take_panes(const json& list, std::vector<std::string>& panes) {
    constexpr size_t kMostPanes = 32;
    if (!list.is_array() || list.size() > kMostPanes)
        fail("panes: found {}, allowed: a list of at most {}", found_json(list), kMostPanes);
    for (const json& one : list) {
        if (!one.is_string()) fail("panes: found {}, allowed: names of panes", found_json(one));
        panes.push_back(one);
    }
}

json to_json(const SavedView& view) {
    json out{{kViewKey, 1},
             {"model", view.model},
             {"workspace", workspace_id(view.workspace)},
             {"step", view.step},
             {"place", notes_to_json(view.place)},
             {"cell", notes_to_json({.locked = view.cell}).at("locked")},
             {kMapsKey, maps_to_json(view.maps)},
             {"compare", compare_to_json(view.compare)},
             {"recipe", json(recipe_json(view.lab.recipe))}};
    out["sample"] = completion_to_json(view.completion);
    out["batch"] = {
        {"split", view.lab.split}, {"first", view.lab.first}, {"examples", view.lab.examples}};
    out["choices"] = panes_to_json(view.choices);
    out["picture"] = {{"split", view.picture.split},
                      {"index", view.picture.index},
                      {"path", view.picture.path},
                      {"text", view.picture.text}};
    out["panes"] = view.panes;
    return out;
}

SavedView from_json(const json& whole) {
    const ViewKeys keys(whole, "");
    if (!keys.has(kViewKey)) fail("this is no view: the key '{}' is missing", kViewKey);
    if (keys.raw(kViewKey) != 1)
        fail("{}: found {}, this version reads 1", kViewKey, found_json(keys.raw(kViewKey)));
    SavedView view;
    std::vector<const char*> workspaces;
    for (const Workspace one : kWorkspaces) workspaces.push_back(workspace_id(one));
    keys.take("model", view.model);
    if (view.model.empty()) fail("model: missing, allowed: a run folder or a checkpoint");
    keys.take("workspace", view.workspace, workspaces);
    keys.take("step", view.step, {-1, 9007199254740992.0});
    if (keys.has("place"))
        view.place = with_context("place", [&] { return notes_from_json(keys.raw("place")); });
    if (keys.has("cell")) take_cell(keys.at("cell"), view.cell);
    if (keys.has(kMapsKey)) take_maps(keys.at(kMapsKey), view.maps);
    if (keys.has("compare")) take_compare(keys.raw("compare"), view.compare);
    if (keys.has("recipe"))
        view.lab.recipe = with_context("recipe", [&] { return parse_recipe(keys.raw("recipe")); });
    if (keys.has("batch")) take_batch(keys.at("batch"), view.lab);
    if (keys.has("sample")) take_completion(keys.at("sample"), view.completion);
    if (keys.has("choices")) take_choices(keys.at("choices"), view.choices);
    if (keys.has("picture")) {
        const ViewKeys picture = keys.at("picture");
        picture.take("split", view.picture.split);
        picture.take("index", view.picture.index, kViewCounts);
        picture.take("path", view.picture.path);
        picture.take("text", view.picture.text);
    }
    if (keys.has("panes")) take_panes(keys.raw("panes"), view.panes);
    return view;
}

}  // namespace

SavedView view_of(const PaneContext& ui) {
    const Selection& selection = ui.selection;
    SavedView view;
    view.model = whole_path(ui.status.path);
    view.workspace = {ui.workspace};
    view.step = selection.step;
    view.place.pins = selection.pins;
    view.place.experiments = ui.experiments;
    for (const std::string& run : ui.overlays) view.place.overlays.push_back(whole_path(run));
    view.place.mask = kept_mask(selection.completion, ui.status.config.model);
    for (WatchedCompletion& one : view.place.experiments.completions)
        one.path = whole_path(one.path);
    if (selection.locked) view.place.locked = selection.cell;
    view.cell = selection.cell;
    view.maps = selection;
    view.compare = selection.compare;
    for (CompareSlot& slot : view.compare.slots) slot.path = whole_path(slot.path);
    view.lab = {.recipe = selection.lab.recipe,
                .examples = selection.lab.examples,
                .first = selection.lab.first,
                .split = selection.lab.split};
    view.completion = selection.completion;
    view.choices = selection;
    view.picture.split = selection.image.split;
    view.picture.index = selection.image.index;
    view.picture.path = whole_path(selection.image.path);
    view.picture.text = selection.image.text;
    constexpr std::string_view kTab = "/main/tab";
    for (const WidgetRecord& widget : ui.recorder.last()) {
        const std::string& id = widget.path.id;
        if (id.ends_with(kTab) && widget.value != "hidden")
            view.panes.push_back(id.substr(0, id.size() - kTab.size()));
    }
    return view;
}

namespace {

void show_completion(CompletionChoice& completion, const SavedView& view) {
    completion.sample = view.completion.sample;
    completion.seed_locked = view.completion.seed_locked;
    completion.prompt = view.completion.prompt;
    completion.length = view.completion.length;
    completion.overlay = view.completion.overlay;
    completion.tool = view.completion.tool;
    completion.brush = view.completion.brush;
    completion.pictures = view.completion.pictures;
    show_mask(completion, view.place.mask);
}

// Where the file names one that is not there: one of that name beside the file.
void look_beside(const fs::path& file, std::string& path) {
    std::error_code ignored;
    const fs::path beside = file.parent_path() / fs::path(path).filename();
    if (!path.empty() && !fs::exists(path, ignored) && fs::exists(beside, ignored))
        path = beside.string();
}

}  // namespace

void show_view(PaneContext& ui, const SavedView& view) {
    Selection& selection = ui.selection;
    ui.commands.send(ShowWorkspace{view.workspace});
    ui.commands.send(ShowStep{view.step});
    selection.pins = view.place.pins;
    add_missing(ui.experiments, view.place.experiments);
    ui.overlays = view.place.overlays;
    selection.unlock();
    selection.cell = view.cell;
    if (view.place.locked) selection.lock(*view.place.locked);
    static_cast<MapDisplay&>(selection) = view.maps;
    selection.changes.forget_choices();
    selection.compare = view.compare;
    selection.lab.recipe = view.lab.recipe;
    selection.lab.split = view.lab.split;
    selection.lab.first = view.lab.first;
    selection.lab.examples = view.lab.examples;
    selection.lab.clamp();
    show_completion(selection.completion, view);
    const SweepChoice sweep = selection.sweep;
    static_cast<PaneChoice&>(selection) = view.choices;
    selection.sweep = sweep;
    selection.image = view.picture;
    for (const std::string& pane : view.panes) ui.commands.send(ShowPane{pane});
}

SavedView read_view_file(const std::string& path) {
    const json whole = read_json_file(path, kMostViewBytes);
    SavedView view = with_context(shown_path(path), [&] { return from_json(whole); });
    look_beside(path, view.model);
    for (CompareSlot& slot : view.compare.slots) look_beside(path, slot.path);
    for (std::string& run : view.place.overlays) look_beside(path, run);
    return view;
}

std::string view_text(const SavedView& view) {
    return json_text(to_json(view), 2) + "\n";
}

void write_view_file(const std::string& path, const SavedView& view) {
    write_atomically(path, view_text(view));
}

}  // namespace aft::app
