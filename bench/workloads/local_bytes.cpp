#include "bench/workloads/workload.h"

namespace aft::bench {
namespace {

std::vector<Problem> problems(bool quick) {
    Problem one = make_problem(ops::OperatorKind::local, quick ? tiny(kS2) : kS2,
                               {.causal = true, .window = quick ? 4 : 32});
    one.accept_x_limit = 2.5;
    one.accept = {{.group = "", .precision = "fp32", .ratio = 10}};
    return {one};
}

}  // namespace

WorkloadRoom local_bytes_workload() {
    return {.info = {"local_bytes", "aft-local, window 32, causal, at the shape of a byte model"},
            .problems = problems};
}

}  // namespace aft::bench
