// How a call of aft-conv (paper Eq. 6) is shared out: groups of heads that one thread takes a
// sample of at a time, blocks of channels that stay in the first-level cache, tiles of taps; and
// the taps' weights exp(w) = 2^(w log2 e - a), a an integer, in the order in which tiles read them.
// Cost: O(taps).
#include "model/ops/cpu/conv/plan.h"

#include <algorithm>
#include <cmath>

#include "core/system/flush_to_zero.h"
#include "model/ops/cpu/range.h"

namespace aft::ops::cpu {

namespace {

// Of a group, at most: long contiguous rows of K, V, Q and Y matter more than a panel that stays in
// the second-level cache (14x14, 24x24: 256 columns take 1.2x).
constexpr int64_t kColumns = 1024;
constexpr int64_t kPanelBytes = 2048 * 1024;  // of a panel, if a group has more than one block
constexpr int64_t kTasks = 16;                // at least, if there is anything to share out

int64_t divide_up(int64_t x, int64_t by) {
    return (x + by - 1) / by;
}

}  // namespace

ConvPlan::ConvPlan(const ConvShape& shape, const float* w)
    : kernels_(conv_kernels()), shape_(shape) {
    taps_ = shape.flat ? shape.kernel : shape.kernel * shape.kernel;
    centre_ = shape.flat && shape.causal ? shape.kernel - 1 : shape.kernel / 2;
    row_centre_ = shape.flat ? 0 : shape.kernel / 2;
    layout_.width = shape.channels / shape.heads;
    layout_.paired = layout_.width == 1;
    layout_.stride = shape.channels;
    layout_.key_stride = shape.heads;
    layout_.rows = shape.length;
    choose_heads();
    place_columns();
    set_windows();
    scale_weights(w);
    fill_weights();
}

int64_t ConvPlan::blocks_of(int64_t heads) const {
    const int64_t lanes = kernels_.lanes;
    return divide_up(divide_up(heads * layout_.width, lanes) + divide_up(heads, lanes), 2);
}

// As few blocks as possible in all; among equals the largest groups, whose rows in memory are
// longest.
void ConvPlan::choose_heads() {
    const int64_t pair = 2 * kernels_.lanes, step = layout_.paired ? kernels_.lanes : 1;
    const int64_t fits = kPanelBytes / (shape_.length * pair * int64_t{sizeof(float)});
    const int64_t most = std::clamp<int64_t>(fits, 1, kColumns / pair);
    double least = INFINITY;
    for (int64_t heads = step; heads < shape_.heads + step; heads += step) {
        const int64_t groups = divide_up(shape_.heads, heads);
        if (heads > step && blocks_of(heads) > most) break;
        const double few = groups * shape_.batch < kTasks && heads > step ? 1.5 : 1;
        const double cost = static_cast<double>(groups * blocks_of(heads)) * few;
        if (cost > least) continue;
        least = cost;
        heads_ = heads;
    }
    groups_ = divide_up(shape_.heads, heads_);
}

void ConvPlan::place_columns() {
    const int64_t lanes = kernels_.lanes;
    layout_.values = divide_up(heads_ * layout_.width, lanes);
    layout_.keys = divide_up(heads_, lanes);
    layout_.blocks = blocks_of(heads_);
    layout_.block = (shape_.length + kernels_.slide) * 2 * lanes;
    layout_.head_row = (layout_.keys + 1) * lanes;
    for (int64_t v = 0; v < layout_.values; ++v) {
        const int64_t first = v * lanes / layout_.width;
        first_head_.push_back(first);
        for (int64_t i = 0; i < lanes; ++i) {
            const int64_t head = std::min((v * lanes + i) / layout_.width, heads_ - 1);
            head_of_.push_back(static_cast<int32_t>(head - first));
        }
    }
    for (int64_t c = 0; c < layout_.blocks * 2 * lanes; ++c)
        column_head_.push_back(head_in_group(c));
}

ConvLayout ConvPlan::layout(int64_t group) const {
    ConvLayout out = layout_;
    out.head_of = head_of_.data();
    out.first_head = first_head_.data();
    out.heads = std::min(heads_, shape_.heads - first_head(group));
    out.channels = out.heads * layout_.width;
    return out;
}

void ConvPlan::set_windows() {
    const int64_t tiles = divide_up(shape_.grid_width, kernels_.tile);
    tile_ = divide_up(shape_.grid_width, tiles);
    const int64_t half = shape_.kernel / 2;
    before_.height = shape_.grid_height;
    before_.width = shape_.grid_width;
    before_.causal = shape_.causal;
    before_.left = centre_;
    before_.right = shape_.flat && shape_.causal ? 0 : half;
    before_.up = shape_.flat ? 0 : half;
    before_.down = shape_.causal ? 0 : before_.up;
    behind_ = before_;
    behind_.transposed = true;
    std::swap(behind_.left, behind_.right);
    std::swap(behind_.up, behind_.down);
}

int64_t ConvPlan::seen_taps() const {
    return shape_.causal ? tap(0, 0) + 1 : taps_;
}

bool ConvPlan::sees_outside() const {
    const ConvWindow& w = before_;
    return w.left + 1 < w.width || w.up + 1 < w.height || (!w.causal && w.right + 1 < w.width) ||
           (!w.causal && w.down + 1 < w.height) || (w.height > 1 && w.right + 1 < w.width);
}

void ConvPlan::scale_weights(const float* w) {
    constexpr float kLog2e = 1.442695041F;
    const int64_t seen = seen_taps();
    scaled_row_ = divide_up(taps_, kernels_.lanes) * kernels_.lanes + kernels_.lanes;
    scaled_ = Buffer<float>(shape_.heads * scaled_row_, true);
    const int64_t pair = 2 * kernels_.lanes;
    one_ = Buffer<float>(groups_ * layout_.blocks * pair, true);
    std::vector<float> one(static_cast<std::size_t>(shape_.heads));
#pragma omp parallel for schedule(static)
    for (int64_t head = 0; head < shape_.heads; ++head) {
        const ScopedFlushToZero flush;
        const float* const from = w + head * taps_;
        const float bias = kernels_.bias.largest_of(from, seen);
        check_bias(bias, seen > 1);
        const float largest = std::ceil((sees_outside() ? std::max(bias, 0.0F) : bias) * kLog2e);
        one[static_cast<std::size_t>(head)] = std::exp2(kBiasShift - largest);
        kernels_.bias.weight_row({.w = from,
                                  .first = 0,
                                  .last = seen,
                                  .begin = 0,
                                  .end = seen,
                                  .largest = largest,
                                  .out = scaled_.data() + head * scaled_row_});
    }
    for (int64_t group = 0; group < groups_; ++group)
        for (int64_t column = 0; column < layout_.blocks * pair; ++column) {
            const int64_t head = head_of(group, column);
            if (head >= 0)
                one_.data()[group * layout_.blocks * pair + column] =
                    one[static_cast<std::size_t>(head)];
        }
}

int64_t ConvPlan::head_in_group(int64_t column) const {
    const int64_t lanes = kernels_.lanes, vector = column / lanes, lane = column % lanes;
    if (layout_.paired) return vector / 2 * lanes + lane;
    if (vector < layout_.values) return column / layout_.width;
    return (vector - layout_.values) * lanes + lane;
}

void ConvPlan::fill_weights() {
    const int64_t lanes = kernels_.lanes, pair = 2 * lanes, seen = seen_taps();
    weight_row_ = layout_.paired ? lanes : pair;
    const int64_t blocks = groups_ * layout_.blocks;
    weights_ = Buffer<float>(blocks * taps_ * weight_row_);
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < blocks; ++i) {
        const int64_t group = i / layout_.blocks, block = i % layout_.blocks;
        float* const out = weights_.data() + i * taps_ * weight_row_;
        for (int64_t c = 0; c < weight_row_; ++c) {
            const int64_t head = head_of(group, block * pair + c);
            const float* const from = head < 0 ? nullptr : weights_of(head);
            for (int64_t o = 0; o < taps_; ++o)
                out[o * weight_row_ + c] = head < 0 || o >= seen ? 0 : from[o];
        }
    }
}

int64_t ConvPlan::spread_scratch() const {
    return outside_scratch(shape_.grid_height, shape_.grid_width) * 2 * kernels_.lanes;
}

void ConvPlan::spread(const Spread& call) const {
    const int64_t pair = 2 * kernels_.lanes;
    ConvOutside outside{.window = window(call.transposed),
                        .panel = call.panel,
                        .one = one_.data() + (call.group * layout_.blocks + call.block) * pair,
                        .sums = call.sums,
                        .scratch = call.scratch};
    kernels_.rows(outside);
    const int64_t real = layout_.paired ? 2 * layout_.blocks : layout_.values + layout_.keys;
    for (int64_t y = 0; y < shape_.grid_height; ++y) {
        kernels_.outside(outside, y);
        for (int64_t u = 0; u < 2 && 2 * call.block + u < real; ++u)
            spread_vector(call, outside.sums + u * kernels_.lanes, u, y);
        outside.sums += shape_.grid_width * pair;
    }
}

void ConvPlan::spread_vector(const Spread& call, float* sums, int64_t u, int64_t y) const {
    const bool transposed = call.transposed;
    const ConvWindow& w = window(transposed);
    const int64_t pair = 2 * kernels_.lanes, W = w.width, sign = transposed ? -1 : 1;
    const float* const panel = call.panel + u * kernels_.lanes;
    const float* const weights =
        weight(call.group, call.block, 0) + (layout_.paired ? 0 : u * kernels_.lanes);
    // In causal operators the own row is cut off at the target itself.
    const int64_t first = w.causal && transposed ? y + 1 : std::max<int64_t>(0, y - w.up);
    const int64_t last = w.causal && !transposed ? y : std::min(w.height, y + w.down + 1);
    KernelTaps m{.a_step = sign * weight_row_,
                 .a_row = sign * shape_.kernel * weight_row_,
                 .b_row = W * pair,
                 .width = W};
    for (m.x = 0; m.x < W; m.x += tile_) {
        m.sum = sums + m.x * pair;
        m.count = std::min(tile_, W - m.x);
        m.rows = last - first;
        m.left = w.left;
        m.right = w.right;
        m.a = weights + tap(sign * (first - y), 0) * weight_row_;
        m.b = panel + first * W * pair;
        if (m.rows > 0) kernels_.taps[tile_](m);
        if (!w.causal) continue;
        m.rows = 1;
        (transposed ? m.left : m.right) = 0;
        m.a = weights + tap(0, 0) * weight_row_;
        m.b = panel + y * W * pair;
        kernels_.taps[tile_](m);
    }
}

}  // namespace aft::ops::cpu
