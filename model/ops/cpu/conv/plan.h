// What the forward and backward passes of aft-conv share: groups of heads, their weights, the
// window and the way slide() is called. Made once per operator call, read by all threads. No
// LibTorch.
#pragma once
#include <vector>

#include "model/ops/cpu/conv/conv.h"
#include "model/ops/cpu/simd/buffer.h"

namespace aft::ops::cpu {

// The taps of a kernel as offsets (dy, dx) from a target; dy <= 0 if causal.
struct TapGrid {
    int64_t count = 0, kernel = 0;  // kernel: taps of a row
    int64_t centre = 0, row_centre = 0;
    bool causal = false;

    [[nodiscard]] int64_t at(int64_t dy, int64_t dx) const {
        return (dy + row_centre) * kernel + dx + centre;
    }
    // The first of the taps; the others are never visible.
    [[nodiscard]] int64_t seen() const { return causal ? at(0, 0) + 1 : count; }
};

// Heads in groups: a thread takes one group of one sample at a time. The columns of a group lie in
// blocks of two vectors, values first, then keys.
class HeadGroups {
  public:
    HeadGroups(const ConvShape& shape, const ConvKernels& kernels);

    [[nodiscard]] int64_t count() const { return count_; }
    [[nodiscard]] const ConvLayout& full() const { return layout_; }  // of a group of all its heads
    [[nodiscard]] ConvLayout layout(int64_t group) const;
    [[nodiscard]] int64_t panel_size() const { return layout_.blocks * layout_.block; }
    [[nodiscard]] int64_t first_head(int64_t group) const { return group * heads_; }
    [[nodiscard]] int64_t first_channel(int64_t group) const {
        return first_head(group) * layout_.width;
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
    [[nodiscard]] int64_t head_in_group(int64_t column) const;

    const ConvShape& shape_;
    const ConvKernels& kernels_;
    ConvLayout layout_;
    int64_t heads_ = 0, count_ = 0;  // heads of a group; groups
    std::vector<int32_t> head_of_;
    std::vector<int64_t> first_head_, column_head_;
};

// exp(w) of all taps, scaled, and packed in the order in which tiles read it.
struct TapWeights {
    int64_t scaled_row = 0, packed_row = 0;
    Buffer<float> scaled;   // [h, scaled_row]
    Buffer<float> outside;  // [groups, blocks, 2 lanes]: weight of what is outside
    Buffer<float> packed;   // [groups, blocks, taps, packed_row]
};

class ConvPlan {
  public:
    ConvPlan(const ConvShape& shape, const float* w);

    [[nodiscard]] const HeadGroups& groups() const { return groups_; }
    [[nodiscard]] const TapGrid& taps() const { return taps_; }
    [[nodiscard]] const ConvWindow& window(bool transposed) const {
        return transposed ? behind_ : before_;
    }
    [[nodiscard]] const float* weights_of(int64_t head) const {  // [taps], scaled
        return weights_.scaled.data() + head * weights_.scaled_row;
    }
    // Arguments of spread(): one block convolved with all taps of its group of heads.
    struct Spread {
        int64_t group = 0, block = 0;
        bool transposed = false;
        const float* panel = nullptr;  // of the block, as sums
        float *sums = nullptr, *scratch = nullptr;
    };
    void spread(const Spread& call) const;
    [[nodiscard]] int64_t spread_scratch() const;

  private:
    void set_taps();
    void set_windows();
    void scale_weights(const float* w);
    void pack_weights();
    [[nodiscard]] bool sees_outside() const;
    void spread_vector(const Spread& call, float* sums, int64_t u, int64_t y) const;

    const ConvKernels& kernels_;
    const ConvShape& shape_;
    HeadGroups groups_;
    TapGrid taps_;
    ConvWindow before_, behind_;
    int64_t tile_ = 0;  // of targets in a row of the grid
    TapWeights weights_;
};

}  // namespace aft::ops::cpu
