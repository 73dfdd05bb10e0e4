// Which entries the exact path computes: a flag for each target and key column. No LibTorch.
#pragma once
#include "model/ops/cpu/exact/column.h"

namespace aft::ops::cpu {

class ExactFlags {
  public:
    enum class Which { all, none };
    ExactFlags(const ExactShape& shape, Which which);

    // Columns with a channel that is not finite in y [B, T, channels].
    template <class T>
    static ExactFlags not_finite(const ExactShape& shape, const T* y);
    // Entries with denominator kNeedsExact, of [B, T, heads].
    static ExactFlags needs_exact(const ExactShape& shape, const float* denominator);

    [[nodiscard]] bool entry(int64_t key) const { return entries_.data()[key] != 0; }
    [[nodiscard]] bool row(int64_t t) const { return rows_.data()[t] != 0; }
    [[nodiscard]] bool column(int64_t column) const { return columns_.data()[column] != 0; }

  private:
    template <class T, class F>
    void set(const T* x, int64_t width, F is_wanted);

    ExactShape shape_;
    Buffer<uint8_t> entries_, rows_, columns_;  // [B, T, heads], [T], [B, heads]
};

}  // namespace aft::ops::cpu
