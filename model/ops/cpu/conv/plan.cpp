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

HeadGroups::HeadGroups(const ConvShape& shape, const ConvKernels& kernels)
    : shape_(shape), kernels_(kernels) {
    layout_.width = shape.channels / shape.heads;
    layout_.paired = layout_.width == 1;
    layout_.stride = shape.channels;
    layout_.key_stride = shape.heads;
    layout_.rows = shape.length;
    choose_heads();
    place_columns();
}

int64_t HeadGroups::blocks_of(int64_t heads) const {
    const int64_t lanes = kernels_.lanes;
    return divide_up(divide_up(heads * layout_.width, lanes) + divide_up(heads, lanes), 2);
}

// Minimises the number of blocks; ties: the largest group, whose contiguous rows are longest.
void HeadGroups::choose_heads() {
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
    count_ = divide_up(shape_.heads, heads_);
}

void HeadGroups::place_columns() {
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

ConvLayout HeadGroups::layout(int64_t group) const {
    ConvLayout out = layout_;
    out.head_of = head_of_.data();
    out.first_head = first_head_.data();
    out.heads = std::min(heads_, shape_.heads - first_head(group));
    out.channels = out.heads * layout_.width;
    return out;
}

int64_t HeadGroups::head_in_group(int64_t column) const {
    const int64_t lanes = kernels_.lanes, vector = column / lanes, lane = column % lanes;
    if (layout_.paired) return vector / 2 * lanes + lane;
    if (vector < layout_.values) return column / layout_.width;
    return (vector - layout_.values) * lanes + lane;
}

ConvPlan::ConvPlan(const ConvShape& shape, const float* w)
    : kernels_(conv_kernels()), shape_(shape), groups_(shape_, kernels_) {
    set_taps();
    set_windows();
    scale_weights(w);
    pack_weights();
}

void ConvPlan::set_taps() {
    taps_ = {.count = shape_.flat ? shape_.kernel : shape_.kernel * shape_.kernel,
             .kernel = shape_.kernel,
             .centre = shape_.flat && shape_.causal ? shape_.kernel - 1 : shape_.kernel / 2,
             .row_centre = shape_.flat ? 0 : shape_.kernel / 2,
             .causal = shape_.causal};
}

void ConvPlan::set_windows() {
    const int64_t tiles = divide_up(shape_.grid_width, kernels_.tile);
    tile_ = divide_up(shape_.grid_width, tiles);
    const int64_t half = shape_.kernel / 2;
    before_.height = shape_.grid_height;
    before_.width = shape_.grid_width;
    before_.causal = shape_.causal;
    before_.left = taps_.centre;
    before_.right = shape_.flat && shape_.causal ? 0 : half;
    before_.up = shape_.flat ? 0 : half;
    before_.down = shape_.causal ? 0 : before_.up;
    behind_ = before_;
    behind_.transposed = true;
    std::swap(behind_.left, behind_.right);
    std::swap(behind_.up, behind_.down);
}

bool ConvPlan::sees_outside() const {
    const ConvWindow& w = before_;
    return w.left + 1 < w.width || w.up + 1 < w.height || (!w.causal && w.right + 1 < w.width) ||
           (!w.causal && w.down + 1 < w.height) || (w.height > 1 && w.right + 1 < w.width);
}

void ConvPlan::scale_weights(const float* w) {
    constexpr float kLog2e = 1.442695041F;
    const int64_t seen = taps_.seen();
    weights_.scaled_row = divide_up(taps_.count, kernels_.lanes) * kernels_.lanes + kernels_.lanes;
    weights_.scaled = Buffer<float>(shape_.heads * weights_.scaled_row, true);
    const int64_t pair = 2 * kernels_.lanes;
    weights_.outside = Buffer<float>(groups_.count() * groups_.full().blocks * pair, true);
    std::vector<float> one(static_cast<std::size_t>(shape_.heads));
#pragma omp parallel for schedule(static)
    for (int64_t head = 0; head < shape_.heads; ++head) {
        const ScopedFlushToZero flush;
        const float* const from = w + head * taps_.count;
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
                                  .out = weights_.scaled.data() + head * weights_.scaled_row});
    }
    for (int64_t group = 0; group < groups_.count(); ++group)
        for (int64_t column = 0; column < groups_.full().blocks * pair; ++column) {
            const int64_t head = groups_.head_of(group, column);
            if (head >= 0)
                weights_.outside.data()[group * groups_.full().blocks * pair + column] =
                    one[static_cast<std::size_t>(head)];
        }
}

void ConvPlan::pack_weights() {
    const int64_t lanes = kernels_.lanes, pair = 2 * lanes, seen = taps_.seen();
    weights_.packed_row = groups_.full().paired ? lanes : pair;
    const int64_t blocks = groups_.count() * groups_.full().blocks;
    weights_.packed = Buffer<float>(blocks * taps_.count * weights_.packed_row);
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < blocks; ++i) {
        const int64_t group = i / groups_.full().blocks, block = i % groups_.full().blocks;
        float* const out = weights_.packed.data() + i * taps_.count * weights_.packed_row;
        for (int64_t c = 0; c < weights_.packed_row; ++c) {
            const int64_t head = groups_.head_of(group, block * pair + c);
            const float* const from = head < 0 ? nullptr : weights_of(head);
            for (int64_t o = 0; o < taps_.count; ++o)
                out[o * weights_.packed_row + c] = head < 0 || o >= seen ? 0 : from[o];
        }
    }
}

int64_t ConvPlan::spread_scratch() const {
    return outside_scratch(shape_.grid_height, shape_.grid_width) * 2 * kernels_.lanes;
}

void ConvPlan::spread(const Spread& call) const {
    const int64_t pair = 2 * kernels_.lanes;
    ConvOutside outside{
        .window = window(call.transposed),
        .panel = call.panel,
        .one = weights_.outside.data() + (call.group * groups_.full().blocks + call.block) * pair,
        .sums = call.sums,
        .scratch = call.scratch};
    kernels_.rows(outside);
    const int64_t real = groups_.full().paired ? 2 * groups_.full().blocks
                                               : groups_.full().values + groups_.full().keys;
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
        weights_.packed.data() +
        (call.group * groups_.full().blocks + call.block) * taps_.count * weights_.packed_row +
        (groups_.full().paired ? 0 : u * kernels_.lanes);
    // In causal operators the own row is cut off at the target itself.
    const int64_t first = w.causal && transposed ? y + 1 : std::max<int64_t>(0, y - w.up);
    const int64_t last = w.causal && !transposed ? y : std::min(w.height, y + w.down + 1);
    KernelTaps m{.a_step = sign * weights_.packed_row,
                 .a_row = sign * shape_.kernel * weights_.packed_row,
                 .b_row = W * pair,
                 .width = W};
    for (m.x = 0; m.x < W; m.x += tile_) {
        m.sum = sums + m.x * pair;
        m.count = std::min(tile_, W - m.x);
        m.rows = last - first;
        m.left = w.left;
        m.right = w.right;
        m.a = weights + taps_.at(sign * (first - y), 0) * weights_.packed_row;
        m.b = panel + first * W * pair;
        if (m.rows > 0) kernels_.taps[tile_](m);
        if (!w.causal) continue;
        m.rows = 1;
        (transposed ? m.left : m.right) = 0;
        m.a = weights + taps_.at(0, 0) * weights_.packed_row;
        m.b = panel + y * W * pair;
        kernels_.taps[tile_](m);
    }
}

}  // namespace aft::ops::cpu
