#include "bench/workloads/workload.h"

namespace aft::bench {
namespace {

std::vector<Problem> problems(bool quick) {
    Problem one = make_problem(ops::OperatorKind::local, quick ? tiny(kS1) : kS1,
                               {.causal = true, .window = quick ? 8 : 256});
    one.accept_x_limit = 1.9;
    one.accept_x_limit_bf16 = 2.2;
    one.accept = {{.group = "einsum", .precision = "fp32", .ratio = 6.5},
                  {.group = "einsum", .precision = "bf16", .ratio = 6},
                  {.group = "attention", .precision = "fp32", .ratio = 4.7},
                  {.group = "attention", .precision = "bf16", .ratio = 8}};
    return {one};
}

}  // namespace

WorkloadRoom local_fwd_workload() {
    return {.info = {"local_fwd", "aft-local, window 256, causal, forward"}, .problems = problems};
}

}  // namespace aft::bench
