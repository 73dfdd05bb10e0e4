#include "bench/workloads/decoding.h"

namespace aft::bench {
namespace {

// LibTorch's own needs no more than a full window before it.
std::vector<RowPlan> rows(bool quick) {
    return late_rows({.mixer = "aft-local",
                      .word = "local",
                      .bound = 1.3,
                      .eager_position = 320,
                      .over_early = 1.5},
                     quick);
}

}  // namespace

WorkloadRoom decode_local_workload() {
    return {.info = {"decode_local", "aft-local, one token of one stream late in a picture"},
            .rows = rows};
}

}  // namespace aft::bench
