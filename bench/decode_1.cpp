// One stream: ours with float32, bf16 and int8 weights against the same net by LibTorch's
// operations and a Transformer with key-value cache.
#include "bench/decoding.h"

namespace aft::bench {
namespace {

nlohmann::json rows(const Settings& settings, const JobControl& control) {
    const Net simple(decode_model("aft-simple", settings.quick), 1);
    const Net attention(decode_model("softmax", settings.quick), 1);
    const DecodeCase one{.name = "24 layers, d=256, one stream, from token 200",
                         .forms = {{.name = "afterimage", .net = &simple},
                                   {.name = "afterimage bf16", .precision = "bf16", .net = &simple},
                                   {.name = "afterimage int8", .precision = "int8", .net = &simple},
                                   {.name = "LibTorch eager", .net = &simple, .eager = true},
                                   {.name = "Transformer, eager, key-value cache",
                                    .net = &attention,
                                    .eager = true}},
                         .claims = {{3, 2, 15, true}, {3, 1, 6, true}}};
    DecodeCase from = one;
    for (DecodeForm& form : from.forms) form.position = settings.quick ? 20 : 200;
    return {decode_race(from, settings, control)};
}

}  // namespace

WorkloadRoom decode_1_workload() {
    return {.info = {"decode_1", "aft-simple, one token of one stream"}, .rows = rows};
}

}  // namespace aft::bench
