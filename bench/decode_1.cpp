// One token of one stream through the net of an image model, over LibTorch's own.
#include "bench/decoding.h"

namespace aft::bench {
namespace {

nlohmann::json rows(const Settings& settings, const JobControl& control) {
    const Net simple(decode_model("aft-simple", settings.quick), 1);
    const Net attention(decode_model("softmax", settings.quick), 1);
    DecodeCase one{.name = "24 layers, d=256, one stream, from token 200",
                   .forms = {{.name = "afterimage fp32", .net = &simple},
                             {.name = "afterimage bf16",
                              .precision = "bf16",
                              .net = &simple,
                              .accept_x_limit = 1.6},
                             {.name = "afterimage int8",
                              .precision = "int8",
                              .net = &simple,
                              .accept_x_limit = 2.5},
                             {.name = "LibTorch eager", .net = &simple, .way = Way::eager},
                             {.name = "Transformer, key-value cache, fp32",
                              .net = &attention,
                              .way = Way::cache},
                             {.name = "Transformer, key-value cache, bf16",
                              .precision = "bf16",
                              .net = &attention,
                              .way = Way::cache}},
                   .claims = {{3, 2, 15, true}, {3, 1, 6, true}}};
    for (DecodeForm& form : one.forms) form.position = settings.quick ? 20 : 200;
    return {decode_race(one, settings, control)};
}

}  // namespace

WorkloadRoom decode_1_workload() {
    return {.info = {"decode_1", "aft-simple, one token of one stream"}, .rows = rows};
}

}  // namespace aft::bench
