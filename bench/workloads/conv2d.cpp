#include <ATen/ATen.h>

#include "bench/workloads/workload.h"

namespace aft::bench {
namespace {

struct GridSize {
    int64_t side, heads, kernel;
};

std::vector<Problem> problems(bool quick) {
    std::vector<Problem> all;
    for (const GridSize& grid : {GridSize{14, 384, 11}, GridSize{14, 384, 15}, GridSize{14, 16, 11},
                                 GridSize{24, 384, 11}}) {
        const int64_t side = quick ? 6 : grid.side, kernel = quick ? 3 : grid.kernel;
        const Shape shape{"", quick ? 2 : 16, side * side, 384};
        Problem one = make_problem(ops::OperatorKind::conv2d, shape,
                                   {.grid_height = side, .grid_width = side});
        one.name = fmt::format("{}B={} {}x{} d=384 h={} s={}", quick ? "tiny " : "", shape.batch,
                               side, side, grid.heads, grid.kernel);
        one.in.k = at::randn({shape.batch, shape.length, grid.heads});
        one.in.w = at::randn({grid.heads, kernel, kernel}) * 0.5;
        one.accept_x_limit = 1.8;
        one.accept = {{.group = "", .precision = "fp32", .ratio = 1.7}};
        all.push_back(std::move(one));
    }
    for (const std::size_t i : {1, 2}) {  // nothing is asked of the gradients on a processor
        Problem one = backward_of(all[i]);
        one.name += " backward";
        one.accept_x_limit = 0;
        one.accept.clear();
        all.push_back(std::move(one));
    }
    return all;
}

}  // namespace

WorkloadRoom conv2d_workload() {
    return {.info = {"conv2d", "aft-conv on 14x14 and 24x24 grids, forward; two of them backward"},
            .problems = problems};
}

}  // namespace aft::bench
