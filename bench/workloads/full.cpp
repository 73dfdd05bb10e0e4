#include "bench/workloads/workload.h"

namespace aft::bench {
namespace {

std::vector<Problem> problems(bool quick) {
    std::vector<Problem> all;
    for (const bool causal : {true, false}) {
        Problem one =
            make_problem(ops::OperatorKind::full, quick ? tiny(kS1) : kS1, {.causal = causal});
        one.name += causal ? " causal" : " not causal";
        one.accept_x_limit = 1.18;
        if (causal) one.accept = {{.group = "einsum", .precision = "fp32", .ratio = 1.6}};
        all.push_back(std::move(one));
    }
    return all;
}

}  // namespace

WorkloadRoom full_workload() {
    return {.info = {"full", "aft-full, causal and not, forward"}, .problems = problems};
}

}  // namespace aft::bench
