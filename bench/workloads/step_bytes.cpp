#include "bench/workloads/paper_configs.h"
#include "bench/workloads/training.h"

namespace aft::bench {
namespace {

nlohmann::json row_of(const BenchSettings& settings, const JobControl& control) {
    const ByteFile file;
    const auto config = [&](const char* mixer) {
        return byte_config(mixer, file.source(), settings.quick);
    };
    return train_race(
        {.forms = against_baselines(config("aft-local"), config("softmax")),
         .accept = {{.group = "einsum", .ratio = 1.5}, {.group = "attention", .ratio = 1.15}}},
        settings, control);
}

std::vector<RowPlan> rows(bool quick) {
    return {{step_words(byte_config("aft-local", "", quick)), row_of}};
}

}  // namespace

WorkloadRoom step_bytes_workload() {
    return {.info = {"step_bytes", "a training step of aft-local, window 32, over bytes"},
            .rows = rows};
}

}  // namespace aft::bench
