#include "bench/workload.h"

namespace aft::bench {
namespace {

std::vector<Problem> problems(bool quick) {
    Problem one =
        backward_of(make_problem(ops::Kind::simple, quick ? tiny(kS1) : kS1, {.causal = true}));
    one.accept_x_limit = 1.6;
    one.accept = {{.group = "", .precision = "", .ratio = 5}};
    return {one};
}

}  // namespace

WorkloadRoom simple_bwd_workload() {
    return {.info = {"simple_bwd", "aft-simple, causal, all gradients"}, .problems = problems};
}

}  // namespace aft::bench
