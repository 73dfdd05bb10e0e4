#include "bench/workloads/workload.h"

namespace aft::bench {
namespace {

std::vector<Problem> problems(bool quick) {
    Problem one = make_problem(ops::OperatorKind::local, quick ? tiny(kS1) : kS1,
                               {.window = quick ? 8 : 256});
    one.accept_x_limit = 1.9;
    one.accept = {{.group = "einsum", .precision = "fp32", .ratio = 3.3}};
    return {one};
}

}  // namespace

WorkloadRoom local_noncausal_workload() {
    return {.info = {"local_noncausal", "aft-local, window 256, every source visible, forward"},
            .problems = problems};
}

}  // namespace aft::bench
