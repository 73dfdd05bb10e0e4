#include <nlohmann/json.hpp>

#include "app/cli/results_json.h"
#include "model/jobs/compare.h"

namespace aft::app {
namespace {

using nlohmann::json;

json side_json(const ComparedModel& side) {
    json out{{"model", side.model}, {"step", side.step}};
    if (!side.recipe.empty()) out["recipe"] = side.recipe;
    return out;
}

json distance_json(const MapDistance& distance) {
    return {{"norm_a", distance.norm_a},
            {"norm_b", distance.norm_b},
            {"norm_change", distance.norm_change},
            {"relative", distance.relative()},
            {"correlation", distance.correlation}};
}

json layer_json(const ComparedLayer& layer) {
    json out = distance_json(layer.all);
    out["layer"] = layer.layer;
    out["layer_b"] = layer.layer_b;
    out["match"] = layer.matching.mean_score();
    out["by_gauge_percent"] = 100 * layer.by_gauge;
    return out;
}

json head_json(const ComparedLayer& layer, size_t i) {
    const HeadMatch& pair = layer.matching.pairs[i];
    json out = distance_json(layer.heads[i]);
    out.update({{"layer", layer.layer},
                {"layer_b", layer.layer_b},
                {"a", pair.a},
                {"b", pair.b},
                {"score", pair.score}});
    return out;
}

json change_json(const ComparedCell& cell) {
    return {{"layer", cell.layer},
            {"layer_b", cell.layer_b},
            {"head_a", cell.head_a},
            {"head_b", cell.head_b},
            {"row", cell.row},
            {"column", cell.column},
            {"a", cell.a},
            {"b", cell.b},
            {"change", cell.b - cell.a}};
}

}  // namespace

json to_json(const CompareResult& result) {
    json out{{"a", side_json(result.a)},  {"b", side_json(result.b)}, {"gauge", result.gauge},
             {"layers", json::array()},   {"heads", json::array()},   {"changes", json::array()},
             {"settings", json::object()}};
    for (const ComparedLayer& layer : result.layers) {
        out["layers"].push_back(layer_json(layer));
        for (size_t i = 0; i < layer.heads.size(); ++i) out["heads"].push_back(head_json(layer, i));
    }
    for (const ComparedCell& cell : result.changes) out["changes"].push_back(change_json(cell));
    for (const DifferingSetting& setting : result.settings)
        out["settings"][setting.key] = setting.values;
    if (!result.file.empty()) {
        out["file"] = result.file;
        out["shape"] = result.shape;
    }
    return out;
}

}  // namespace aft::app
