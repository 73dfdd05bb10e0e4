#include "app/state/run_notes.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace aft::app {

using nlohmann::json;

namespace {

constexpr size_t kMostPins = 200, kMostText = 2000;  // of a run; bytes of a text

// A whole number within its limits, also where it is written as 1e300.
struct IndexLimits {
    int64_t standard = 0, low = 0, high = 0;
};
int64_t whole_in(const json& j, const char* key, const IndexLimits& limits) {
    const double value = j.value(key, double(limits.standard));
    return static_cast<int64_t>(std::clamp(value, double(limits.low), double(limits.high)));
}

std::string text_in(const json& j, const char* key) {
    std::string text = j.value(key, std::string());
    return text.size() > kMostText ? std::string() : text;
}

json cell_to_json(const Cell& c) {
    return {{"layer", c.layer},   {"head", c.head},     {"channel", c.channel},
            {"target", c.target}, {"source", c.source}, {"tap", c.tap}};
}

// What lies outside the model is taken back when it is opened (Selection::clamp).
Cell cell_from_json(const json& j) {
    constexpr int64_t kMostIndex = int64_t{1} << 20;
    const auto index = [&](const char* key, int64_t least) {
        return whole_in(j, key, {least, least, kMostIndex});
    };
    return {.layer = index("layer", 0),
            .head = index("head", -1),
            .channel = index("channel", -1),
            .target = index("target", -1),
            .source = index("source", -1),
            .tap = index("tap", -1)};
}

}  // namespace

json notes_to_json(const RunNotes& notes) {
    json pins = json::array();
    for (const Pin& pin : notes.pins)
        pins.push_back({{"cell", cell_to_json(pin.cell)}, {"step", pin.step}, {"note", pin.note}});
    json j = {{"name", notes.name}, {"tag", notes.tag}, {"note", notes.note}, {"pins", pins}};
    if (notes.locked) j["locked"] = cell_to_json(*notes.locked);
    return j;
}

RunNotes notes_from_json(const json& j) {
    RunNotes out{.name = text_in(j, "name"), .tag = text_in(j, "tag"), .note = text_in(j, "note")};
    for (const json& pin : j.value("pins", json::array())) {
        if (out.pins.size() >= kMostPins) break;
        const Cell cell = cell_from_json(pin.value("cell", json::object()));
        out.pins.push_back({.cell = cell,
                            .step = whole_in(pin, "step", {0, 0, int64_t{1} << 53}),
                            .words = cell_words(cell),
                            .note = text_in(pin, "note")});
    }
    if (j.contains("locked")) out.locked = cell_from_json(j.at("locked"));
    return out;
}

json view_to_json(const KeptView& view) {
    return {{"quantity", view.quantity}, {"gauge", view.gauge}, {"range_mode", view.range_mode},
            {"scale", view.scale},       {"tool", view.tool},   {"brush", view.brush}};
}

KeptView view_from_json(const json& j) {
    const KeptView standard;
    const auto number = [&](const char* key, int begins, int low, int high) {
        return static_cast<int>(whole_in(j, key, {begins, low, high}));
    };
    return {.quantity = number("quantity", standard.quantity, 0, 3),
            .gauge = number("gauge", standard.gauge, 0, 1),
            .range_mode = number("range_mode", standard.range_mode, 0, 2),
            .scale = number("scale", standard.scale, -1, 1),
            .tool = number("tool", standard.tool, 0, 2),
            .brush = whole_in(j, "brush", {standard.brush, 0, 8})};
}

}  // namespace aft::app
