#include "model/ops/common/position_bias.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <limits>

namespace aft::ops {

namespace {

constexpr double kHidden = -std::numeric_limits<double>::infinity();

at::Tensor positions(IndexRange range, const at::TensorOptions& options) {
    return at::arange(range.begin, range.end, options.dtype(at::kLong));
}

// j - t, [R, J]
at::Tensor offsets(IndexRange rows, IndexRange sources, const at::TensorOptions& options) {
    return positions(sources, options).unsqueeze(0) - positions(rows, options).unsqueeze(1);
}

}  // namespace

PositionBias::PositionBias(const OperatorShape& shape, BiasTensors tensors, int64_t T,
                           at::TensorOptions options)
    : shape_(shape), tensors_(std::move(tensors)), options_(options), length_(T) {
    if (shape_.kind == OperatorKind::local && shape_.window == 0) tensors_ = {};
    if (is_convolution(shape_.kind)) {
        const at::Tensor flat = tensors_.w.reshape({tensors_.w.size(0), -1});
        kernel_ = at::constant_pad_nd(flat, {0, 1}, shape_.outside_hidden ? kHidden : 0.0);
    }
}

IndexRange PositionBias::band(IndexRange rows) const {
    const int64_t s = tensors_.w.defined() ? tensors_.w.size(-1) : 0;
    int64_t before = 0, after = 0;
    switch (shape_.kind) {
        case OperatorKind::full:
            before = after = length_;
            break;
        case OperatorKind::local:
            before = after = std::max<int64_t>(0, shape_.window - 1);
            break;
        case OperatorKind::conv1d:
            before = shape_.causal ? s - 1 : s / 2;
            after = s / 2;
            break;
        case OperatorKind::conv2d:
            before = after = (s / 2) * (shape_.grid_width + 1);
            break;
        default:
            break;
    }
    const IndexRange none{rows.begin, shape_.causal ? rows.end : rows.begin};
    if (!has_parameters()) return none;
    return {std::max<int64_t>(0, rows.begin - before),
            shape_.causal ? rows.end : std::min(length_, rows.end + after)};
}

at::Tensor PositionBias::taps(IndexRange rows, IndexRange sources) const {
    const int64_t s = tensors_.w.size(-1);
    if (shape_.kind == OperatorKind::conv1d) {
        const at::Tensor o = offsets(rows, sources, options_) + (shape_.causal ? s - 1 : s / 2);
        return o.masked_fill((o < 0).logical_or(o >= s), s);
    }
    const at::Tensor t = positions(rows, options_).unsqueeze(1);
    const at::Tensor j = positions(sources, options_).unsqueeze(0);
    const int64_t W = shape_.grid_width;
    const at::Tensor a = j.div(W, "floor") - t.div(W, "floor") + s / 2;
    const at::Tensor b = j.remainder(W) - t.remainder(W) + s / 2;
    const at::Tensor outside = (a < 0).logical_or(a >= s).logical_or(b < 0).logical_or(b >= s);
    return (a * s + b).masked_fill(outside, s * s);
}

at::Tensor PositionBias::raw_tile(IndexRange rows, IndexRange sources) const {
    const int64_t R = rows.size(), J = sources.size();
    if (factors()) {
        const at::Tensor u = tensors_.u.narrow(0, rows.begin, R).to(at::kDouble);
        const at::Tensor r = tensors_.r.narrow(0, sources.begin, J).to(at::kDouble);
        return at::mm(u, r.t()).unsqueeze(0);
    }
    if (kernel_.defined()) {
        const at::Tensor index = taps(rows, sources).reshape({-1});
        return kernel_.index_select(1, index).view({kernel_.size(0), R, J});
    }
    return tensors_.w.narrow(0, rows.begin, R).narrow(1, sources.begin, J).clone().unsqueeze(0);
}

at::Tensor PositionBias::outside_window(IndexRange rows, IndexRange sources) const {
    return offsets(rows, sources, options_).abs_().ge(shape_.window);
}

at::Tensor PositionBias::tile(IndexRange rows, IndexRange sources) const {
    at::Tensor w = has_parameters() ? raw_tile(rows, sources)
                                    : at::zeros({1, rows.size(), sources.size()}, options_);
    if (leaves_window(rows, sources))
        w.masked_fill_(outside_window(rows, sources), shape_.outside_hidden ? kHidden : 0.0);
    if (shape_.causal && sources.end > rows.begin + 1) {
        const IndexRange late{std::max(sources.begin, rows.begin), sources.end};
        w.narrow(2, late.begin - sources.begin, late.size())
            .masked_fill_(offsets(rows, late, options_).gt(0), kHidden);
    }
    return w;
}

bool PositionBias::leaves_window(IndexRange rows, IndexRange sources) const {
    if (shape_.kind != OperatorKind::local || !has_parameters()) return false;
    const int64_t back = rows.end - 1 - sources.begin;
    const int64_t ahead = shape_.causal ? 0 : sources.end - 1 - rows.begin;
    return std::max(back, ahead) >= shape_.window;
}

void PositionBias::add_gradient(IndexRange rows, IndexRange sources, const at::Tensor& gradient) {
    if (!has_parameters()) return;
    if (kernel_.defined()) return add_kernel_gradient(rows, sources, gradient);
    at::Tensor dw = gradient.squeeze(0);
    if (leaves_window(rows, sources)) dw = dw.masked_fill(outside_window(rows, sources), 0.0);
    if (!factors()) {
        if (!gradient_.w.defined()) gradient_.w = at::zeros_like(tensors_.w);
        gradient_.w.narrow(0, rows.begin, rows.size())
            .narrow(1, sources.begin, sources.size())
            .add_(dw);
        return;
    }
    if (!gradient_.u.defined()) {
        gradient_.u = at::zeros_like(tensors_.u, at::kDouble);
        gradient_.r = at::zeros_like(tensors_.r, at::kDouble);
    }
    dw = dw.to(at::kDouble);
    const at::Tensor u = tensors_.u.narrow(0, rows.begin, rows.size()).to(at::kDouble);
    const at::Tensor r = tensors_.r.narrow(0, sources.begin, sources.size()).to(at::kDouble);
    gradient_.u.narrow(0, rows.begin, rows.size()).addmm_(dw, r);
    gradient_.r.narrow(0, sources.begin, sources.size()).addmm_(dw.t(), u);
}

at::Tensor PositionBias::tap_sources(IndexRange rows) const {
    const int64_t s = tensors_.w.size(-1), W = shape_.grid_width;
    const at::Tensor t = positions(rows, options_).unsqueeze(1);
    at::Tensor j, outside;
    if (shape_.kind == OperatorKind::conv1d) {
        j = t + positions({0, s}, options_) - (shape_.causal ? s - 1 : s / 2);
        outside = (j < 0).logical_or(j >= length_);
    } else {
        const at::Tensor tap = positions({0, s * s}, options_);
        const at::Tensor y = t.div(W, "floor") + tap.div(s, "floor") - s / 2;
        const at::Tensor x = t.remainder(W) + tap.remainder(s) - s / 2;
        j = y * W + x;
        outside = (x < 0).logical_or(x >= W).logical_or(j < 0).logical_or(j >= length_);
    }
    return j.masked_fill(shape_.causal ? outside.logical_or(j > t) : outside, -1);
}

// Every row gathers what belongs to its taps, then the rows are summed: a fixed order anywhere.
void PositionBias::add_kernel_gradient(IndexRange rows, IndexRange sources,
                                       const at::Tensor& gradient) {
    const at::Tensor j = tap_sources(rows);  // [R, s^n]
    const at::Tensor index = (j - sources.begin).clamp_(0, sources.size() - 1);
    const at::Tensor taken =
        gradient.gather(2, index.unsqueeze(0).expand({gradient.size(0), -1, -1}))
            .masked_fill_(j < 0, 0.0);
    const at::Tensor sum = taken.sum(1, false, at::kDouble).view_as(tensors_.w);
    if (!gradient_.w.defined()) gradient_.w = at::zeros_like(tensors_.w, at::kDouble);
    gradient_.w.add_(sum);
}

BiasTensors PositionBias::gradient() const {
    BiasTensors out;
    if (tensors_.w.defined() && gradient_.w.defined())
        out.w = gradient_.w.to(tensors_.w.scalar_type());
    if (factors() && gradient_.u.defined()) {
        out.u = gradient_.u.to(tensors_.u.scalar_type());
        out.r = gradient_.r.to(tensors_.r.scalar_type());
    }
    return out;
}

}  // namespace aft::ops
