#include "model/mixers/stream.h"

#include <ATen/ATen.h>

#include "core/check.h"

namespace aft {

namespace {

constexpr double kSafeNats = 300;  // two of them stay under the 708 nats of float64
constexpr int64_t kFirstCapacity = 64;

// [B, g * c] -> [g, B, c] in float64
at::Tensor by_group(const at::Tensor& x, int64_t groups) {
    return x.to(at::kDouble).view({x.size(0), groups, -1}).transpose(0, 1).contiguous();
}

// weights [g, n] times sources [g, n, B, c] -> [g, B, c]
at::Tensor weighted_sum(const at::Tensor& weights, const at::Tensor& sources) {
    const int64_t g = sources.size(0), n = sources.size(1);
    if (g == 1)  // a matrix-vector product is much faster than a batch of one
        return at::mv(sources.view({n, -1}).t(), weights[0]).view(sources.select(1, 0).sizes());
    return at::bmm(weights.unsqueeze(1), sources.reshape({g, n, -1}))
        .view({g, sources.size(2), sources.size(3)});
}

}  // namespace

void StreamState::Sums::add(const at::Tensor& k, const at::Tensor& v) {
    const at::Tensor top = at::maximum(m, k);
    const at::Tensor keep = at::exp(m - top), take = at::exp(k - top);
    n = n * keep + v * take;
    d = d * keep + take;
    m = top;
}

StreamState::StreamState(const StreamShape& shape) : shape_(shape) {
    const auto options = at::TensorOptions().dtype(at::kDouble).device(shape.device);
    const int64_t g = shape.groups, b = shape.batch, kc = shape.key_channels,
                  vc = shape.value_channels;
    // A fixed history slides through twice its length and starts with a full window of zeros.
    const int64_t capacity = shape.growing ? kFirstCapacity : 2 * shape.history;
    end_ = shape.growing ? 0 : std::max<int64_t>(shape.history - 1, 0);
    k_ = at::zeros({g, capacity, b, kc}, options);
    x_ = at::zeros({g, capacity, b, kc}, options);
    v_ = at::zeros({g, capacity, b, vc}, options);
    xv_ = at::zeros({g, capacity, b, vc}, options);
    older_ = {at::full({g, b, kc}, -std::numeric_limits<double>::infinity(), options),
              at::zeros({g, b, vc}, options), at::zeros({g, b, kc}, options)};
}

std::unique_ptr<MixerState> StreamState::clone() const {
    auto copy = std::make_unique<StreamState>(*this);
    for (at::Tensor* tensor : {&copy->k_, &copy->v_, &copy->x_, &copy->xv_})
        *tensor = tensor->clone();  // the only tensors that are changed in place
    return copy;
}

void StreamState::select(const at::Tensor& rows) {
    for (at::Tensor* tensor : {&k_, &v_, &x_, &xv_}) *tensor = tensor->index_select(2, rows);
    for (at::Tensor* tensor : {&older_.m, &older_.n, &older_.d})
        *tensor = tensor->index_select(1, rows);
    if (first_.defined()) first_ = first_.index_select(1, rows);
    shape_.batch = rows.size(0);
}

// Afterwards slot end_ is free, and the history before it is where it was.
void StreamState::compact() {
    const int64_t capacity = k_.size(1);
    if (end_ < capacity) return;
    for (at::Tensor* tensor : {&k_, &v_, &x_, &xv_}) {
        if (shape_.growing) {
            *tensor = at::cat({*tensor, at::zeros_like(*tensor)}, 1);
        } else {
            const int64_t kept = shape_.history - 1;
            tensor->narrow(1, 0, kept).copy_(tensor->narrow(1, capacity - kept, kept));
        }
    }
    if (!shape_.growing) end_ = shape_.history - 1;
}

void StreamState::append(const at::Tensor& k, const at::Tensor& v) {
    const bool one_leaves = !shape_.growing && position >= shape_.history;
    if (one_leaves && !shape_.forget) {
        const int64_t oldest = end_ - shape_.history;
        older_.add(k_.select(1, oldest), v_.select(1, oldest));
    }
    compact();  // after the oldest was read: the move drops it
    const at::Tensor distance = k - first_;
    keys_near_first_ = keys_near_first_ && distance.abs().max().item<double>() <= kSafeNats;
    const at::Tensor x = at::exp(distance);
    k_.select(1, end_).copy_(k);
    v_.select(1, end_).copy_(v);
    x_.select(1, end_).copy_(x);
    xv_.select(1, end_).copy_(x * v);
    ++end_;
}

bool StreamState::is_scaling_safe(const at::Tensor& row) const {
    if (!keys_near_first_) return false;
    // What is hidden (-inf) weighs 0 however it is scaled.
    const auto [low, high] =
        (shape_.forget ? at::where(row.isinf(), row.amax(1, true), row) : row).aminmax();
    return high.item<double>() - low.item<double>() <= kSafeNats;
}

StreamState::Sums StreamState::recent(const at::Tensor& row) const {
    const int64_t window = shape_.growing ? end_ : shape_.history;
    // Weights of the zeros before the first token do not matter: 0 keeps every token's cost alike.
    const at::Tensor padded = at::constant_pad_nd(row, {window - row.size(1), 0}, 0);
    const at::Tensor top = row.amax(1, true);  // [g, 1]
    const at::Tensor weights = at::exp(padded - top).clamp_max_(1);
    const int64_t begin = end_ - window;
    return {top.unsqueeze(2) + first_, weighted_sum(weights, xv_.narrow(1, begin, window)),
            weighted_sum(weights, x_.narrow(1, begin, window))};
}

StreamState::Sums StreamState::recent_exactly(const at::Tensor& row) const {
    const int64_t seen = row.size(1), begin = end_ - seen;
    const at::Tensor z = row.unsqueeze(2).unsqueeze(3) + k_.narrow(1, begin, seen);
    const at::Tensor top = z.amax(1, true);
    const at::Tensor p = at::exp(z - top);
    return {top.squeeze(1), (p * v_.narrow(1, begin, seen)).sum(1), p.sum(1)};
}

at::Tensor StreamState::take(const at::Tensor& k, const at::Tensor& v, const at::Tensor& row) {
    const at::Tensor keys = by_group(k, shape_.groups), values = by_group(v, shape_.groups);
    at::Tensor mean;
    if (shape_.history == 0 && !shape_.growing) {
        older_.add(keys, values);
        mean = older_.mean();
    } else {
        if (position == 0) first_ = keys;
        append(keys, values);
        const at::Tensor weights = row.to(at::kDouble);
        Sums sums = is_scaling_safe(weights) ? recent(weights) : recent_exactly(weights);
        if (!shape_.growing && !shape_.forget && position >= shape_.history) {
            const at::Tensor top = at::maximum(sums.m, older_.m);
            const at::Tensor a = at::exp(sums.m - top), b = at::exp(older_.m - top);
            sums = {top, a * sums.n + b * older_.n, a * sums.d + b * older_.d};
        }
        mean = sums.mean();
    }
    ++position;
    return mean.transpose(0, 1).reshape({shape_.batch, -1});
}

}  // namespace aft
