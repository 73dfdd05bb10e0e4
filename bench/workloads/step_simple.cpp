#include "bench/workloads/training.h"

namespace aft::bench {
namespace {

nlohmann::json row_of(const BenchSettings& settings, const JobControl& control) {
    return train_race({.forms = against_baselines(pixel_config("aft-simple", settings.quick),
                                                  pixel_config("softmax", settings.quick)),
                       .accept = {{.group = "attention", .ratio = 1.6}}},
                      settings, control);
}

std::vector<RowPlan> rows(bool quick) {
    return {{step_words(pixel_config("aft-simple", quick)), row_of}};
}

}  // namespace

WorkloadRoom step_simple_workload() {
    return {.info = {"step_simple", "a training step of aft-simple, over 32 x 32 x 3 sub-pixels"},
            .rows = rows};
}

}  // namespace aft::bench
