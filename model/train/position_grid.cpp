#include "model/train/position_grid.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>

#include "model/tasks/task.h"

namespace aft {

std::string PositionGrid::words() const {
    return fmt::format("{} x {}", height, width);
}

PositionGrid position_grid(const ModelConfig& model) {
    const TokenKind tokens = task_traits(model).tokens;
    if (tokens == TokenKind::patches)
        return {.prefix = model.prefix_tokens(),
                .height = model.grid_height(),
                .width = model.grid_width(),
                .channels = 1};
    if (tokens == TokenKind::values)
        return {
            .prefix = 0, .height = model.height, .width = model.width, .channels = model.channels};
    return {};
}

bool can_resize(const PositionGrid& from, const PositionGrid& to) {
    return from.height > 0 && to.height > 0 && from.channels == to.channels;
}

at::Tensor resized_table(const at::Tensor& table, const PositionGrid& from, const PositionGrid& to,
                         const at::Tensor& fresh) {
    const int64_t n = table.size(1), channels = from.channels;
    const at::Tensor grid = table.narrow(0, from.prefix, table.size(0) - from.prefix)
                                .reshape({1, from.height, from.width, channels * n})
                                .permute({0, 3, 1, 2});
    const bool is_same = from.height == to.height && from.width == to.width;
    const at::Tensor there = is_same
                                 ? grid
                                 : at::upsample_bicubic2d(grid.contiguous(), {to.height, to.width},
                                                          /*align_corners=*/false);
    at::Tensor out = fresh.detach().clone();
    out.narrow(0, to.prefix, to.tokens() - to.prefix)
        .copy_(there.permute({0, 2, 3, 1}).reshape({-1, n}));
    const int64_t before = std::min(from.prefix, to.prefix);
    out.narrow(0, 0, before).copy_(table.narrow(0, 0, before));
    return out;
}

at::Tensor resized_pairs(const at::Tensor& w, const PositionGrid& from, const PositionGrid& to,
                         const at::Tensor& fresh) {
    // Rows that the file lacks are fresh ones, cut to the columns there.
    const at::Tensor none = at::zeros({to.tokens(), w.size(1)}, w.options());
    const at::Tensor by_target = resized_table(w, from, to, none);
    at::Tensor out = resized_table(by_target.t().contiguous(), from, to, fresh.t()).t();
    const int64_t lacking = to.prefix - std::min(from.prefix, to.prefix);
    if (lacking > 0) {
        const int64_t first = to.prefix - lacking;
        out = out.clone();
        out.narrow(0, first, lacking).copy_(fresh.narrow(0, first, lacking));
    }
    return out.contiguous();
}

}  // namespace aft
