#include <nlohmann/json.hpp>

#include "app/cli/results_json.h"
#include "core/files.h"
#include "model/jobs/cost.h"

namespace aft::app {
namespace {

using nlohmann::json;

json layer_json(const LayerCost& cost, bool decodes) {
    json out{{"parameters", static_cast<int64_t>(cost.parameters)},
             {"forward_flops", cost.forward_flops},
             {"train_flops", cost.forward_flops + cost.backward_flops},
             {"activation_bytes", cost.kept_bytes},
             {"token_flops", nullptr},
             {"state_bytes", nullptr}};
    if (decodes)
        out.update({{"token_flops", cost.decode_flops}, {"state_bytes", cost.state_bytes}});
    return out;
}

json seconds_json(const CostSeconds& seconds, bool decodes) {
    return {{"forward", seconds.forward},
            {"train", seconds.train},
            {"token", decodes ? json(seconds.token) : json()}};
}

json row_json(const CostRow& row, bool decodes) {
    json out = layer_json(row.cost.layer, decodes);
    out.update({{"mixer", row.mixer},
                {"is_own", row.is_own},
                {"tokens", row.shape.tokens},
                {"grid", {row.shape.grid_height, row.shape.grid_width}},
                {"changed", row.changed},
                {"order", {{"time", row.cost.time}, {"space", row.cost.space}}},
                {"estimated_seconds", seconds_json(row.seconds, decodes)}});
    return out;
}

json model_json(const CostResult& result) {
    json out = layer_json(result.net.all, result.decodes);
    out["tokens"] = result.tokens;
    out["estimated_seconds"] = seconds_json(result.seconds, result.decodes);
    out["parts"] = json::array();
    for (const NetPart& part : result.net.parts) {
        out["parts"].push_back(layer_json(part.cost, result.decodes));
        out["parts"].back()["name"] = part.name;
    }
    out["recompute"] = {{"activation_bytes", result.net.recomputed_bytes},
                        {"more_flops", result.net.recomputed_flops}};
    return out;
}

}  // namespace

json to_json(const CostResult& result) {
    json out{{"name", result.config.name},
             {"model", model_json(result)},
             {"rates",
              {{"flops_per_second", result.rates.flops_per_second},
               {"bytes_per_second", result.rates.bytes_per_second},
               {"device", result.rates.device}}},
             {"mixers", json::array()},
             {"not", json::array()},
             {"version", version()}};
    if (!result.file.empty()) out["file"] = result.file;
    for (const CostRow& row : result.rows) out["mixers"].push_back(row_json(row, result.decodes));
    for (const CostGap& gap : result.gaps) {
        out["not"].push_back({{"mixer", gap.mixer}, {"reason", gap.reason}});
        if (gap.tokens > 0) out["not"].back()["tokens"] = gap.tokens;
    }
    return out;
}

}  // namespace aft::app
