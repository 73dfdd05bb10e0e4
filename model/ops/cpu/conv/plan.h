// What the forward and backward passes of aft-conv share: groups of heads, their weights, the
// window and the way slide() is called. Made once per operator call, read by all threads. No
// LibTorch.
#pragma once
#include <vector>

#include "model/ops/cpu/conv/conv.h"
#include "model/ops/cpu/simd/buffer.h"

namespace aft::ops::cpu {

class ConvPlan {
  public:
    ConvPlan(const ConvShape& shape, const float* w);

    [[nodiscard]] int64_t groups() const { return groups_; }
    [[nodiscard]] ConvLayout layout(int64_t group) const;
    [[nodiscard]] int64_t blocks() const { return layout_.blocks; }  // of a group
    [[nodiscard]] int64_t block() const { return layout_.block; }    // floats
    [[nodiscard]] int64_t first_head(int64_t group) const { return group * heads_; }
    [[nodiscard]] int64_t first_channel(int64_t group) const {
        return first_head(group) * layout_.width;
    }
    [[nodiscard]] int64_t panel_size() const { return layout_.blocks * layout_.block; }

    [[nodiscard]] const ConvWindow& window(bool transposed) const {
        return transposed ? behind_ : before_;
    }
    // Everything that the positions of a block send through the weights.
    struct Spread {
        int64_t group = 0, block = 0;
        bool transposed = false;
        const float* panel = nullptr;  // of the block, as sums
        float *sums = nullptr, *scratch = nullptr;
    };
    void spread(const Spread& call) const;
    [[nodiscard]] int64_t spread_scratch() const;

    // Taps (dy, dx) from a target: dy <= 0 if causal.
    [[nodiscard]] int64_t taps() const { return taps_; }
    [[nodiscard]] int64_t tap(int64_t dy, int64_t dx) const {
        return (dy + row_centre_) * shape_.kernel + dx + centre_;
    }
    [[nodiscard]] int64_t seen_taps() const;  // the first of the taps; the others are never visible
    [[nodiscard]] const float* weights_of(int64_t head) const {  // [taps], scaled
        return scaled_.data() + head * scaled_row_;
    }
    [[nodiscard]] int64_t group_of(int64_t head) const { return head / heads_; }
    // Head of column `column` of a group's blocks, or -1.
    [[nodiscard]] int64_t head_of(int64_t group, int64_t column) const {
        const int64_t head = column_head_[static_cast<std::size_t>(column)];
        const bool real = head < heads_ && first_head(group) + head < shape_.heads;
        return real ? first_head(group) + head : -1;
    }

  private:
    void choose_heads();
    [[nodiscard]] int64_t blocks_of(int64_t heads) const;
    void place_columns();
    void set_windows();
    void scale_weights(const float* w);
    void fill_weights();
    [[nodiscard]] bool sees_outside() const;
    void spread_vector(const Spread& call, float* sums, int64_t u, int64_t y) const;
    [[nodiscard]] int64_t head_in_group(int64_t column) const;
    [[nodiscard]] const float* weight(int64_t group, int64_t block, int64_t tap) const {
        return weights_.data() + ((group * layout_.blocks + block) * taps_ + tap) * weight_row_;
    }

    const ConvKernels& kernels_;
    const ConvShape& shape_;
    ConvLayout layout_;
    ConvWindow before_, behind_;
    int64_t heads_ = 0, groups_ = 0;  // heads of a group
    int64_t tile_ = 0;                // of targets in a row of the grid
    int64_t taps_ = 0, centre_ = 0, row_centre_ = 0;
    int64_t weight_row_ = 0, scaled_row_ = 0;
    std::vector<int32_t> head_of_;
    std::vector<int64_t> first_head_, column_head_;
    Buffer<float> scaled_;   // [h, scaled_row]
    Buffer<float> one_;      // [groups, blocks, 2 lanes]: weight of what is outside
    Buffer<float> weights_;  // [groups, blocks, taps, weight_row]
};

}  // namespace aft::ops::cpu
