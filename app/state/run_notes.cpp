#include "app/state/run_notes.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "app/state/json_values.h"
#include "app/state/mask_text.h"
#include "core/caught.h"
#include "core/json.h"

namespace aft::app {

using nlohmann::json;

namespace {

constexpr size_t kMostPins = 200, kMostText = 2000;  // of a run; bytes of a text
constexpr size_t kMostPath = 4096;                   // bytes

std::string text_in(const json& j, const char* key) {
    std::string text = json_string(j, key);
    return text.size() > kMostText ? std::string() : text;
}

json cell_to_json(const Cell& c) {
    return {{"layer", c.layer},   {"head", c.head},     {"channel", c.channel},
            {"target", c.target}, {"source", c.source}, {"tap", c.tap}};
}

// What lies outside the model is taken back when it is opened (Selection::clamp).
Cell cell_from_json(const json& j) {
    constexpr double kMostIndex = 0x1p20;
    const auto index = [&](const char* key, int64_t least) {
        return clamped_whole(j, key, {double(least), double(least), kMostIndex});
    };
    return {.layer = index("layer", 0),
            .head = index("head", -1),
            .channel = index("channel", -1),
            .target = index("target", -1),
            .source = index("source", -1),
            .tap = index("tap", -1)};
}

Pin pin_from_json(const json& j) {
    const Cell cell = with_context("cell", [&] { return cell_from_json(json_object(j, "cell")); });
    return {.cell = cell,
            .step = clamped_whole(j, "step", {0, 0, 0x1p53}),
            .words = cell_words(cell),
            .note = text_in(j, "note")};
}

constexpr int64_t kMostKeptSide = 1024;

json kept_mask_to_json(const KeptMask& mask) {
    return {{"height", mask.height}, {"width", mask.width}, {"values", mask_text(mask.values)}};
}

KeptMask kept_mask_from_json(const json& j) {
    KeptMask mask{.height = clamped_whole(j, "height", {0, 0, double(kMostKeptSide)}),
                  .width = clamped_whole(j, "width", {0, 0, double(kMostKeptSide)})};
    mask.values = mask_of_text(json_string(j, "values"), mask.height, mask.width);
    return mask;
}

std::vector<std::string> overlays_from_json(const json& list) {
    std::vector<std::string> out;
    for (const json& path : list)
        if (path.is_string() && out.size() < kMostOverlays &&
            path.get_ref<const std::string&>().size() <= kMostPath)
            out.push_back(path);
    return out;
}

// What cannot be read is an Error, or goes with its words to `left_out`.
void take_checked(const json& j, RunNotes& notes, std::vector<std::string>* left_out) {
    const auto take = [&](const char* key, const auto& read) {
        if (!j.contains(key)) return;
        if (left_out == nullptr) return read();
        const std::string words = error_words(read);
        if (!words.empty()) left_out->push_back(words);
    };
    take("mask", [&] {
        notes.mask = with_context("mask", [&] { return kept_mask_from_json(j.at("mask")); });
    });
    take("recipe", [&] {
        notes.recipe = with_context("recipe", [&] { return recipe_of_json(j.at("recipe")); });
    });
    take("step_notes", [&] { notes.step_notes = step_notes_from_json(j.at("step_notes")); });
}

}  // namespace

json notes_to_json(const RunNotes& notes) {
    json pins = json::array();
    for (const Pin& pin : notes.pins)
        pins.push_back({{"cell", cell_to_json(pin.cell)}, {"step", pin.step}, {"note", pin.note}});
    json j = {{"name", notes.name}, {"tag", notes.tag}, {"note", notes.note}, {"pins", pins}};
    if (notes.locked) j["locked"] = cell_to_json(*notes.locked);
    if (!notes.mask.values.empty()) j["mask"] = kept_mask_to_json(notes.mask);
    if (!notes.recipe.interventions.empty()) j["recipe"] = json(json_of_recipe(notes.recipe, ""));
    if (!notes.experiments.is_empty()) j["experiments"] = experiments_to_json(notes.experiments);
    if (!notes.overlays.empty()) j["overlays"] = notes.overlays;
    if (!notes.step_notes.empty()) j["step_notes"] = step_notes_to_json(notes.step_notes);
    return j;
}

RunNotes notes_from_json(const json& j, std::vector<std::string>* left_out) {
    RunNotes out{.name = text_in(j, "name"), .tag = text_in(j, "tag"), .note = text_in(j, "note")};
    for (const json& pin : json_list(j, "pins")) {
        if (out.pins.size() >= kMostPins) break;
        out.pins.push_back(with_context(fmt::format("pins[{}]", out.pins.size()),
                                        [&] { return pin_from_json(pin); }));
    }
    if (j.contains("locked"))
        out.locked = with_context("locked", [&] { return cell_from_json(j.at("locked")); });
    take_checked(j, out, left_out);
    out.overlays = overlays_from_json(json_list(j, "overlays"));
    if (j.contains("experiments"))
        out.experiments = experiments_from_json(j.at("experiments"), left_out);
    return out;
}

json view_to_json(const KeptView& view) {
    return {{"quantity", view.quantity}, {"gauge", view.gauge}, {"range_mode", view.range_mode},
            {"scale", view.scale},       {"tool", view.tool},   {"brush", view.brush}};
}

KeptView view_from_json(const json& j) {
    const KeptView standard;
    const auto number = [&](const char* key, int begins, int low, int high) {
        return static_cast<int>(clamped_whole(j, key, {double(begins), double(low), double(high)}));
    };
    return {.quantity = number("quantity", standard.quantity, 0, 3),
            .gauge = number("gauge", standard.gauge, 0, 1),
            .range_mode = number("range_mode", standard.range_mode, 0, 2),
            .scale = number("scale", standard.scale, -1, 1),
            .tool = number("tool", standard.tool, 0, 2),
            .brush = clamped_whole(j, "brush", {double(standard.brush), 0, 8})};
}

}  // namespace aft::app
