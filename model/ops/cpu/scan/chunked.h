// One long causal sample of aft-simple, forward and gradient, as a chunked prefix scan: threads
// take chunks of rows in turn, each passing a carry to the next (chunk.inl). Runs on the calling
// thread's OpenMP team; results do not depend on the number of threads. No LibTorch.
#pragma once
#include <vector>

#include "model/ops/cpu/scan/scan.h"

namespace aft::ops::cpu {

// The same whatever the number of threads: a chunked scan adds in another order.
[[nodiscard]] bool is_chunked(const ScanShape& shape);
// x: of the sample, with strides.
template <class T>
[[nodiscard]] bool chunked_forward(const Scan<T>& x);
template <class T>
[[nodiscard]] Norms chunked_gradient(const ScanGradient<T>& x);

// In their order, as the sum decides whether the exact path is taken.
inline Norms total(const std::vector<Norms>& norms) {
    Norms sum;
    for (const Norms& n : norms) {
        sum.left += n.left;
        sum.part += n.part;
    }
    return sum;
}

template <class T>
T* moved(T* p, int64_t by) {  // none stays none
    return p == nullptr ? nullptr : p + by;
}

}  // namespace aft::ops::cpu
