// One key column of the exact path (a channel; of aft-conv a head with its channels): its keys and
// values in float64, sources first, then the chunks that stand for one source each. With p the
// softmax of the keys inside a chunk
//
//   L = log sum exp(K_j), M = sum p_j V_j:   the chunk weighs exp(L) and holds M
//   L is stored as the largest key and the sum of exp(K_j - largest), so that huge keys keep digits
//   dV_j = p_j dM, dK_j = p_j (dL + dM (V_j - M))
//
// so that what lies outside the window costs a target T / kTile, not T. Scratch of one thread. No
// LibTorch.
#pragma once
#include <bit>
#include <vector>

#include "model/ops/common/index_range.h"
#include "model/ops/cpu/exact/kernels.h"
#include "model/ops/cpu/scaling.h"
#include "model/ops/cpu/simd/buffer.h"

namespace aft::ops::cpu {

struct ExactShape {
    int64_t batch = 0, length = 0, channels = 0;
    int64_t heads = 0;  // key columns of a sample: the channels, or the heads of aft-conv

    [[nodiscard]] int64_t width() const { return channels / heads; }  // channels of a column
    [[nodiscard]] int64_t columns() const { return batch * heads; }
    [[nodiscard]] int64_t chunks() const { return (length + kTile - 1) / kTile; }
    [[nodiscard]] int64_t key(int64_t column, int64_t t) const {  // where it lies in K
        return (column / heads * length + t) * heads + column % heads;
    }
    [[nodiscard]] int64_t value(int64_t column, int64_t t) const {  // its first, in V
        return (column / heads * length + t) * channels + column % heads * width();
    }
};

// Numbers as tensors store them.
inline double wide(float x) {
    return static_cast<double>(x);
}
inline double wide(Bf16 x) {
    return static_cast<double>(std::bit_cast<float>(static_cast<uint32_t>(x) << 16));
}

template <class T>
struct ExactTensors {
    const T *k = nullptr, *v = nullptr;
};

// L (largest key and sum) and M of every chunk of every column; or their gradients: of L in keys.
struct ExactChunks {
    Buffer<double> keys, masses, values;  // [columns, chunks], values: [columns * width, chunks]
    explicit ExactChunks(const ExactShape& shape)
        : keys(shape.columns() * shape.chunks(), true),
          masses(shape.columns() * shape.chunks(), true),
          values(shape.columns() * shape.width() * shape.chunks(), true) {}
};

// Keys, values, weights and gradients of one column: [capacity], v and dv [width, capacity].
struct ColumnBuffers {
    Buffer<double> k, mass, v, p, dk, dv;
};

class ExactColumn {
  public:
    explicit ExactColumn(const ExactShape& shape);

    // Sources [direct.begin, direct.end), then chunks `before` and `after`; gradients are zero.
    struct SourceRanges {
        IndexRange direct, before, after;
    };
    template <class T>
    void gather(const ExactTensors<T>& x, const ExactChunks& chunks, int64_t column,
                const SourceRanges& part);
    // Weights of what a target sees: p up to a factor, whose inverse is the result.
    double weigh(const double* bias, const std::vector<IndexRange>& seen);
    [[nodiscard]] double average(int64_t channel, const std::vector<IndexRange>& seen) const;
    // Backward contribution of one target and channel.
    struct Back {
        int64_t channel = 0;
        double P = 0;  // gradient of the average, divided by what weigh() returned
        double average = 0;
        double* dw = nullptr;  // by source, or none
    };
    void back(const Back& from, const std::vector<IndexRange>& seen);
    struct ColumnGradients {
        float *dk = nullptr, *dv = nullptr;  // as K and V
    };
    // Adds the accumulated gradients to those of the tensors and of the chunks.
    void scatter(const ColumnGradients& to, ExactChunks& chunks) const;

    // L and M of the column's chunks up to this one.
    template <class T>
    void sum_up(const ExactTensors<T>& x, int64_t column, int64_t chunks, ExactChunks& out);
    // Adds the gradients of L and M to those of the chunks' sources.
    struct ChunkGradients {
        const ExactChunks &sums, &of;
    };
    template <class T>
    void spread(const ExactTensors<T>& x, int64_t column, const ChunkGradients& chunks,
                const ColumnGradients& to);

  private:
    template <class T>
    void gather_sources(const ExactTensors<T>& x, IndexRange sources);
    void scatter_sources(const ColumnGradients& to) const;
    [[nodiscard]] IndexRange chunk_sources(int64_t chunk) const;
    [[nodiscard]] int64_t chunk_key(int64_t chunk) const;  // where it lies in ExactChunks
    [[nodiscard]] int64_t chunk_value(int64_t channel, int64_t chunk) const;

    const ExactKernels& kernels_;
    const ExactShape& shape_;
    int64_t column_ = 0, capacity_ = 0;
    SourceRanges part_;
    ColumnBuffers own_;
    Buffer<double> nothing_, unused_;  // zero biases of a chunk; a dw that is not wanted
};

}  // namespace aft::ops::cpu
