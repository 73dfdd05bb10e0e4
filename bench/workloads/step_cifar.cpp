#include "bench/workloads/training.h"

namespace aft::bench {
namespace {

nlohmann::json row_of(const BenchSettings& settings, const JobControl& control) {
    return train_race(
        {.forms = against_baselines(pixel_config("aft-local", settings.quick),
                                    pixel_config("softmax", settings.quick)),
         .accept = {{.group = "einsum", .ratio = 2}, {.group = "attention", .ratio = 1.4}}},
        settings, control);
}

std::vector<RowPlan> rows(bool quick) {
    return {{step_words(pixel_config("aft-local", quick)), row_of}};
}

}  // namespace

WorkloadRoom step_cifar_workload() {
    return {.info = {"step_cifar",
                     "a training step of aft-local, window 256, over 32 x 32 x 3 sub-pixels"},
            .rows = rows};
}

}  // namespace aft::bench
