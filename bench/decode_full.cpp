#include "bench/decoding.h"

namespace aft::bench {
namespace {

nlohmann::json rows(const Settings& settings, const JobControl& control) {
    return late_rows({.mixer = "aft-full", .word = "full", .bound = 2}, settings, control);
}

}  // namespace

WorkloadRoom decode_full_workload() {
    return {.info = {"decode_full", "aft-full, one token of one stream late in a picture"},
            .rows = rows};
}

}  // namespace aft::bench
