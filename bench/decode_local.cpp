// aft-local late in a picture against aft-simple: what the position biases cost a token.
#include "bench/decoding.h"

namespace aft::bench {
namespace {

nlohmann::json rows(const Settings& settings, const JobControl& control) {
    const Net simple(decode_model("aft-simple", settings.quick), 1);
    const Net net(decode_model("aft-local", settings.quick), 1);
    const int64_t late = settings.quick ? 100 : 2976;  // rounds of 32 tokens up to 3072
    DecodeCase one{.name = "24 layers, d=256, one stream, at t=3000"};
    for (const char* precision : {"fp32", "bf16", "int8"}) {
        one.forms.push_back({.name = fmt::format("afterimage simple {}", precision),
                             .precision = precision,
                             .net = &simple,
                             .position = late});
        one.forms.push_back({.name = fmt::format("afterimage local {}", precision),
                             .precision = precision,
                             .net = &net,
                             .position = late});
        one.claims.push_back({one.forms.size() - 1, one.forms.size() - 2, 1.3});
    }
    // LibTorch's own needs no more than a full window before it.
    one.forms.push_back({.name = "LibTorch eager, at t=320",
                         .net = &net,
                         .position = settings.quick ? 20 : 320,
                         .eager = true});
    return {decode_race(one, settings, control)};
}

}  // namespace

WorkloadRoom decode_local_workload() {
    return {.info = {"decode_local", "aft-local, one token of one stream late in a picture"},
            .rows = rows};
}

}  // namespace aft::bench
