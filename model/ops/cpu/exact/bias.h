// Position biases for the exact path: a few targets at a time, in float64, and which sources each
// of them looks at one by one. Sources outside every target's window come in chunks of kTile, each
// of which stands for one source (column.h). Internal to ops/cpu.
#pragma once
#include <vector>

#include "model/ops/common/position_bias.h"
#include "model/ops/cpu/call.h"
#include "model/ops/cpu/simd/buffer.h"

namespace aft::ops::cpu {

// Biases of targets [rows.begin, rows.end). Sources of a row: those of `direct`, then the chunks.
struct ExactRows {
    IndexRange rows;
    IndexRange direct;                             // from and to whole chunks, or the last source
    IndexRange before, after;                      // chunks that all of the targets see with w = 0
    std::vector<Buffer<double>> biases;            // by head (or one for all): [rows, width()]
    std::vector<std::vector<IndexRange>> visible;  // by head and row

    [[nodiscard]] int64_t chunks() const { return before.size() + after.size(); }
    [[nodiscard]] int64_t width() const { return direct.size() + chunks(); }
    [[nodiscard]] const double* bias(int64_t head, int64_t row) const {
        return biases[static_cast<std::size_t>(head)].data() + row * width();
    }
    [[nodiscard]] const std::vector<IndexRange>& seen(int64_t head, int64_t row) const {
        return visible[static_cast<std::size_t>(head * rows.size() + row)];
    }
};

class ExactBias {
  public:
    // The call's tensors in float32.
    explicit ExactBias(const Call& call);

    // Targets handled together: what is kept of them forward stays within some 32 MB.
    [[nodiscard]] int64_t rows_at_once() const { return rows_at_once_; }
    [[nodiscard]] int64_t heads() const { return heads_; }  // with biases of their own, or 1
    [[nodiscard]] bool has_chunks() const;                  // whether there may be any
    [[nodiscard]] ExactRows rows(IndexRange rows) const;

    // dw by head, [rows, width()] each; in the order of the rows.
    void add_gradient(const ExactRows& rows, const std::vector<Buffer<double>>& dw);
    [[nodiscard]] BiasTensors gradient() const { return bias_.gradient(); }

  private:
    static constexpr int64_t kMostRows = 16, kKept = 1 << 22;  // numbers

    [[nodiscard]] at::Tensor tile(const ExactRows& x) const;

    OperatorKind kind_;
    bool causal_ = false, outside_visible_ = false;
    int64_t length_ = 0, heads_ = 1, rows_at_once_ = 1;
    PositionBias bias_;
};

}  // namespace aft::ops::cpu
