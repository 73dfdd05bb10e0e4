#include "app/state/view_file.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>
#include <span>

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
constexpr const char* kViewKey = "afterimage_view";
constexpr const char* kMapsKey = "maps";
constexpr const char* kRangeModes[] = {"own", "layer", "global"};
constexpr const char* kScaleNames[] = {"linear",        "root",       "log",
                                       "signed-linear", "signed-log", "two-sided"};
constexpr const char* kCompareViews[] = {"side-by-side", "flicker", "split", "difference", "ratio"};

// The keys of one object; what is not there stays as it is.
class ViewKeys {
  public:
    ViewKeys(const json& of, std::string name) : of_(of), name_(std::move(name)) {
        if (!of_.is_object()) fail("{}: found {}, allowed: an object", name_, found_json(of_));
    }
    [[nodiscard]] bool has(const char* key) const { return of_.contains(key); }
    [[nodiscard]] ViewKeys at(const char* key) const { return {of_.at(key), path(key)}; }
    [[nodiscard]] const json& raw(const char* key) const { return of_.at(key); }

    void take(const char* key, std::string& to) const {
        if (const json* value = of_type(key, "a text", &json::is_string)) to = *value;
    }
    void take(const char* key, bool& to) const {
        if (const json* value = of_type(key, "true or false", &json::is_boolean)) to = *value;
    }
    void take(const char* key, double& to, Range allowed) const {
        const json* value = of_type(key, "a number", &json::is_number);
        if (value != nullptr) to = within(key, value->get<double>(), allowed);
    }
    void take(const char* key, int64_t& to, Range allowed) const {
        const json* value = of_type(key, "a whole number", &json::is_number_integer);
        if (value != nullptr) to = static_cast<int64_t>(within(key, value->get<double>(), allowed));
    }
    template <class Enum>
    void take(const char* key, Enum& to, std::span<const char* const> names) const {
        std::string text = names[static_cast<size_t>(to)], all;
        take(key, text);
        for (size_t i = 0; i < names.size(); ++i) {
            if (text == names[i]) {
                to = static_cast<Enum>(i);
                return;
            }
            all += std::string(i == 0 ? "" : ", ") + names[i];
        }
        fail("{}: found '{}', allowed: {}", path(key), shown(text), all);
    }

  private:
    [[nodiscard]] std::string path(const char* key) const {
        return name_.empty() ? key : name_ + "." + key;
    }
    [[nodiscard]] const json* of_type(const char* key, const char* words,
                                      bool (json::*is)() const noexcept) const {
        const auto found = of_.find(key);
        if (found == of_.end()) return nullptr;
        if (!((*found).*is)())
            fail("{}: found {}, allowed: {}", path(key), found_json(*found), words);
        return &*found;
    }
    [[nodiscard]] double within(const char* key, double value, Range allowed) const {
        if (!(value >= allowed.low && value <= allowed.high))
            fail("{}: found {}, allowed: {} to {}", path(key), value, allowed.low, allowed.high);
        return value;
    }
    const json& of_;
    std::string name_;
};

constexpr Range kIndices{-1, double(1 << 30)}, kCounts{0, double(1 << 30)};

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
    keys.take("difference_to_pin", maps.difference_to_pin);
    if (!keys.has("low") || !keys.has("high")) return;
    Range range;
    keys.take("low", range.low, {-far, far});
    keys.take("high", range.high, {-far, far});
    if (range.low < range.high) maps.range_by_hand = range;
}

json compare_to_json(const CompareChoice& compare) {
    json slots = json::array();
    for (const CompareSlot& slot : compare.slots)
        slots.push_back({{"path", slot.path}, {"step", slot.step}, {"head", slot.head}});
    return {{"slots", slots},
            {"view", kCompareViews[size_t(compare.view)]},
            {"split", compare.split},
            {"matches", compare.matches},
            {"links_zoom", compare.links_zoom},
            {"links_range", compare.links_range}};
}

void take_compare(const ViewKeys& keys, CompareChoice& compare) {
    keys.take("view", compare.view, kCompareViews);
    keys.take("split", compare.split, {0, 1});
    keys.take("matches", compare.matches);
    keys.take("links_zoom", compare.links_zoom);
    keys.take("links_range", compare.links_range);
    if (!keys.has("slots")) return;
    const json& slots = keys.raw("slots");
    if (!slots.is_array() || slots.size() > CompareChoice::kMostSlots)
        fail("compare.slots: found {}, allowed: a list of at most {}", found_json(slots),
             CompareChoice::kMostSlots);
    for (const json& one : slots) {
        const ViewKeys of(one, "compare.slots");
        CompareSlot slot;
        of.take("path", slot.path);
        of.take("step", slot.step, kIndices);
        of.take("head", slot.head, kIndices);
        (void)compare.add(std::move(slot));
    }
}

void take_sample(const ViewKeys& keys, SampleOptions& sample) {
    auto seed = static_cast<int64_t>(sample.seed);
    keys.take("samples", sample.samples, {1, 1024});
    keys.take("temperature", sample.temperature, {0, 100});
    keys.take("top_k", sample.top_k, kCounts);
    keys.take("top_p", sample.top_p, {0, 1});
    keys.take("particles", sample.particles, {1, 1024});
    keys.take("seed", seed, {0, 9007199254740992.0});
    sample.seed = static_cast<uint64_t>(seed);
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
             {"recipe", json(recipe_json(view.recipe))}};
    const SampleOptions& sample = view.sample;
    out["sample"] = {{"samples", sample.samples},     {"temperature", sample.temperature},
                     {"top_k", sample.top_k},         {"top_p", sample.top_p},
                     {"particles", sample.particles}, {"seed", sample.seed}};
    out["picture"] = {
        {"split", view.picture.split}, {"index", view.picture.index}, {"path", view.picture.path}};
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
    if (keys.has("place")) view.place = notes_from_json(keys.raw("place"));
    if (keys.has("cell"))
        view.cell = notes_from_json(json{{"locked", keys.raw("cell")}}).locked.value_or(Cell());
    if (keys.has(kMapsKey)) take_maps(keys.at(kMapsKey), view.maps);
    if (keys.has("compare")) take_compare(keys.at("compare"), view.compare);
    if (keys.has("recipe"))
        view.recipe = with_context("recipe", [&] { return parse_recipe(keys.raw("recipe")); });
    if (keys.has("sample")) take_sample(keys.at("sample"), view.sample);
    if (keys.has("picture")) {
        const ViewKeys picture = keys.at("picture");
        picture.take("split", view.picture.split);
        picture.take("index", view.picture.index, kCounts);
        picture.take("path", view.picture.path);
    }
    if (keys.has("panes")) take_panes(keys.raw("panes"), view.panes);
    return view;
}

}  // namespace

SavedView view_of(const PaneContext& ui) {
    const Selection& selection = ui.selection;
    std::error_code ignored;
    SavedView view;
    view.model = fs::absolute(ui.status.path, ignored).lexically_normal().string();
    view.workspace = {ui.workspace};
    view.step = selection.step;
    view.place.pins = selection.pins;
    view.place.experiments = ui.experiments;
    if (selection.locked) view.place.locked = selection.cell;
    view.cell = selection.cell;
    view.maps = selection;
    view.compare = selection.compare;
    view.recipe = selection.lab.recipe;
    view.sample = selection.completion.sample;
    view.picture.split = selection.image.split;
    view.picture.index = selection.image.index;
    view.picture.path = selection.image.path;
    constexpr std::string_view kTab = "/main/tab";
    for (const WidgetRecord& widget : ui.recorder.last()) {
        const std::string& id = widget.path.id;
        if (id.ends_with(kTab) && widget.value != "hidden")
            view.panes.push_back(id.substr(0, id.size() - kTab.size()));
    }
    return view;
}

void show_view(PaneContext& ui, const SavedView& view) {
    Selection& selection = ui.selection;
    ui.commands.send(ShowWorkspace{view.workspace});
    ui.commands.send(ShowStep{view.step});
    selection.pins = view.place.pins;
    add_missing(ui.experiments, view.place.experiments);
    selection.unlock();
    selection.cell = view.cell;
    if (view.place.locked) selection.lock(*view.place.locked);
    static_cast<MapDisplay&>(selection) = view.maps;
    selection.compare = view.compare;
    selection.lab.recipe = view.recipe;
    selection.completion.sample = view.sample;
    selection.image = view.picture;
    selection.lab.clamp();
    for (const std::string& pane : view.panes) ui.commands.send(ShowPane{pane});
}

SavedView read_view_file(const std::string& path) {
    const json whole = read_json_file(path, kMostViewBytes);
    SavedView view = with_context(shown_path(path), [&] { return from_json(whole); });
    std::error_code ignored;
    const fs::path beside = fs::path(path).parent_path() / fs::path(view.model).filename();
    if (!fs::exists(view.model, ignored) && fs::exists(beside, ignored))
        view.model = beside.string();
    return view;
}

std::string view_text(const SavedView& view) {
    return json_text(to_json(view), 2) + "\n";
}

void write_view_file(const std::string& path, const SavedView& view) {
    write_atomically(path, view_text(view));
}

}  // namespace aft::app
