// One token of one stream through the net of an image model, over LibTorch's own.
#include "bench/workloads/decoding.h"

namespace aft::bench {
namespace {

int64_t position(bool quick) {
    return quick ? 20 : 200;
}

DecodeCase case_of(const Net& simple, const Net& attention) {
    return {.forms = {{.name = "afterimage fp32", .net = &simple},
                      {.name = "afterimage bf16",
                       .precision = "bf16",
                       .net = &simple,
                       .accept_x_limit = 1.6},
                      {.name = "afterimage int8",
                       .precision = "int8",
                       .net = &simple,
                       .accept_x_limit = 2.5},
                      {.name = "LibTorch eager", .net = &simple, .way = Way::eager, .over = 0},
                      {.name = "Transformer, key-value cache, fp32",
                       .net = &attention,
                       .way = Way::cache,
                       .over = 0},
                      {.name = "Transformer, key-value cache, bf16",
                       .precision = "bf16",
                       .net = &attention,
                       .way = Way::cache,
                       .over = 1}},
            .claims = {{3, 2, 15, true}, {3, 1, 6, true}}};
}

nlohmann::json row_of(const BenchSettings& settings, const JobControl& control) {
    const Net simple(decode_model("aft-simple", settings.quick), 1),
        attention(decode_model("softmax", settings.quick), 1);
    DecodeCase one = case_of(simple, attention);
    for (DecodeForm& form : one.forms) form.position = position(settings.quick);
    return decode_race(one, settings, control);
}

std::vector<RowPlan> rows(bool quick) {
    return {{fmt::format("{}, one stream, from token {}",
                         size_words(decode_model("aft-simple", quick)), position(quick)),
             row_of}};
}

}  // namespace

WorkloadRoom decode_1_workload() {
    return {.info = {"decode_1", "aft-simple, one token of one stream"}, .rows = rows};
}

}  // namespace aft::bench
