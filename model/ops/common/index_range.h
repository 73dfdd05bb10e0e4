// A range of sources, targets, columns or blocks. Internal to model/ops. No LibTorch.
#pragma once
#include <cstdint>

namespace aft::ops {

struct IndexRange {
    int64_t begin = 0, end = 0;
    [[nodiscard]] int64_t size() const { return end - begin; }
};

}  // namespace aft::ops
