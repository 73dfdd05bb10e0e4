// Several streams that share the weights of a step: tokens a second.
#include "bench/decoding.h"

namespace aft::bench {
namespace {

nlohmann::json rows(const Settings& settings, const JobControl& control) {
    const Net simple(decode_model("aft-simple", settings.quick), 1);
    nlohmann::json all = nlohmann::json::array();
    for (const char* precision : {"fp32", "bf16", "int8"}) {
        DecodeCase one{.name = fmt::format("24 layers, d=256, aft-simple, {}", precision)};
        for (const int64_t n : {1, 4, 16, 64})
            one.forms.push_back({.name = fmt::format("afterimage n={}", n),
                                 .precision = precision,
                                 .net = &simple,
                                 .rows = n});
        if (std::string(precision) == "fp32")
            one.forms.push_back(
                {.name = "LibTorch eager n=16", .net = &simple, .rows = 16, .way = Way::eager});
        one.claims = {{0, 2, 5, true, 16}};
        all.push_back(decode_race(one, settings, control));
    }
    return all;
}

}  // namespace

WorkloadRoom decode_batch_workload() {
    return {.info = {"decode_batch", "aft-simple, n streams at once"}, .rows = rows};
}

}  // namespace aft::bench
