// Several streams that share the weights of a step: tokens a second.
#include "bench/workloads/decoding.h"

namespace aft::bench {
namespace {

nlohmann::json row_of(const std::string& precision, const BenchSettings& settings,
                      const JobControl& control) {
    const Net simple(decode_model("aft-simple", settings.quick), 1);
    DecodeCase one;
    for (const int64_t n : {1, 4, 16, 64})
        one.forms.push_back({.name = fmt::format("afterimage n={}", n),
                             .precision = precision,
                             .net = &simple,
                             .rows = n,
                             .over = n == 1 ? -1 : 0});
    if (precision == "fp32")
        one.forms.push_back({.name = "LibTorch eager n=16",
                             .net = &simple,
                             .rows = 16,
                             .way = Way::eager,
                             .over = 2});
    one.claims = {{0, 2, 5, true, 16}};
    return decode_race(one, settings, control);
}

std::vector<RowPlan> rows(bool quick) {
    std::vector<RowPlan> plans;
    for (const std::string precision : {"fp32", "bf16", "int8"})
        plans.push_back({fmt::format("{}, aft-simple, {}",
                                     size_words(decode_model("aft-simple", quick)), precision),
                         [precision](const BenchSettings& settings, const JobControl& control) {
                             return row_of(precision, settings, control);
                         }});
    return plans;
}

}  // namespace

WorkloadRoom decode_batch_workload() {
    return {.info = {"decode_batch", "aft-simple, n streams at once"}, .rows = rows};
}

}  // namespace aft::bench
