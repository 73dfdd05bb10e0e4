#include "bench/workloads/workload.h"

namespace aft::bench {
namespace {

std::vector<Problem> problems(bool quick) {
    Problem one = backward_of(make_problem(ops::OperatorKind::local, quick ? tiny(kS1) : kS1,
                                           {.causal = true, .window = quick ? 8 : 256}));
    one.accept_x_limit = 2.2;
    one.accept = {{.group = "", .precision = "fp32", .ratio = 6}};
    return {one};
}

}  // namespace

WorkloadRoom local_bwd_workload() {
    return {.info = {"local_bwd",
                     "aft-local, window 256, causal, all gradients with those of the factors"},
            .problems = problems};
}

}  // namespace aft::bench
