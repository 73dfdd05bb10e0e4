#include "bench/workloads/workload.h"

namespace aft::bench {
namespace {

std::vector<Problem> problems(bool quick) {
    std::vector<Problem> all;
    for (const Shape& shape : {kS1, kS4}) {
        Problem one = backward_of(
            make_problem(ops::OperatorKind::simple, quick ? tiny(shape) : shape, {.causal = true}));
        one.accept_x_limit = one.accept_x_limit_bf16 = 1.6;
        one.accept = {{.group = "", .precision = "", .ratio = 5}};
        all.push_back(std::move(one));
    }
    return all;
}

}  // namespace

WorkloadRoom simple_bwd_workload() {
    return {.info = {"simple_bwd", "aft-simple, causal, all gradients"}, .problems = problems};
}

}  // namespace aft::bench
