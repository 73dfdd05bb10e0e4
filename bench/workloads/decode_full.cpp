#include "bench/workloads/decoding.h"

namespace aft::bench {
namespace {

std::vector<RowPlan> rows(bool quick) {
    return late_rows({.mixer = "aft-full", .word = "full", .bound = 2}, quick);
}

}  // namespace

WorkloadRoom decode_full_workload() {
    return {.info = {"decode_full", "aft-full, one token of one stream late in a picture"},
            .rows = rows};
}

}  // namespace aft::bench
