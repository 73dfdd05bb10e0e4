#include "model/ops/cpu/exact/bias.h"

#include <algorithm>
#include <cmath>

namespace aft::ops::cpu {

namespace {

OperatorShape bias_shape(const Call& call) {
    OperatorShape shape = shape_of(call.kind, call.options);
    shape.outside_hidden = shape.outside_hidden && call.kind == OperatorKind::local;
    return shape;
}

// Runs of sources that are not hidden; the chunks behind them all are.
std::vector<IndexRange> runs(const double* w, int64_t direct, int64_t width) {
    std::vector<IndexRange> out;
    for (int64_t i = 0; i < direct; ++i) {
        if (std::isinf(w[i]) && w[i] < 0) continue;
        if (out.empty() || out.back().end != i) out.push_back({i, i});
        out.back().end = i + 1;
    }
    if (direct < width) out.push_back({direct, width});
    return out;
}

}  // namespace

ExactBias::ExactBias(const Call& call)
    : kind_(call.kind),
      causal_(call.options.causal),
      length_(call.in.v.size(1)),
      heads_(call.is_conv() ? call.in.w.size(0) : 1),
      bias_(bias_shape(call), {call.in.w, call.in.u, call.in.r}, length_,
            call.in.v.options().dtype(at::kFloat)) {
    outside_visible_ = bias_.outside_visible() && kind_ != OperatorKind::full;
    const int64_t row = heads_ * std::max<int64_t>(1, length_);
    rows_at_once_ = std::clamp<int64_t>(kKept / row, 1, kMostRows);
}

bool ExactBias::has_chunks() const {
    return outside_visible_ && length_ > kTile;
}

at::Tensor ExactBias::tile(const ExactRows& x) const {
    const at::Tensor w = bias_.tile({x.rows.begin, x.rows.end}, {x.direct.begin, x.direct.end});
    return w.to(at::kDouble).contiguous();
}

ExactRows ExactBias::rows(IndexRange rows) const {
    const IndexRange band = bias_.band(rows);
    const int64_t chunks = (length_ + kTile - 1) / kTile;
    const int64_t end = std::max(band.end, rows.end);
    ExactRows x{.rows = rows, .direct = {}, .before = {}, .after = {}, .biases = {}, .visible = {}};
    x.direct.begin = std::min(band.begin, rows.begin) / kTile * kTile;
    x.direct.end = causal_ ? rows.end : std::min(length_, (end + kTile - 1) / kTile * kTile);
    if (outside_visible_) {
        x.before = {0, x.direct.begin / kTile};
        if (!causal_) x.after = {(x.direct.end + kTile - 1) / kTile, chunks};
    }
    const at::Tensor w = tile(x);
    const int64_t direct = x.direct.size(), width = x.width();
    x.visible.resize(static_cast<std::size_t>(heads_ * rows.size()));
    for (int64_t head = 0; head < heads_; ++head) {
        const double* from = w.const_data_ptr<double>() + head * rows.size() * direct;
        Buffer<double>& to = x.biases.emplace_back(rows.size() * width, true);
        for (int64_t row = 0; row < rows.size(); ++row) {
            std::copy_n(from + row * direct, direct, to.data() + row * width);
            x.visible[static_cast<std::size_t>(head * rows.size() + row)] =
                runs(to.data() + row * width, direct, width);
        }
    }
    return x;
}

void ExactBias::add_gradient(const ExactRows& x, const std::vector<Buffer<double>>& dw) {
    const int64_t direct = x.direct.size(), width = x.width();
    at::Tensor tile = at::empty({heads_, x.rows.size(), direct}, at::kDouble);
    for (int64_t i = 0; i < heads_ * x.rows.size(); ++i)
        std::copy_n(
            dw[static_cast<std::size_t>(i / x.rows.size())].data() + i % x.rows.size() * width,
            direct, tile.data_ptr<double>() + i * direct);
    bias_.add_gradient(x.rows, x.direct, tile);
}

}  // namespace aft::ops::cpu
