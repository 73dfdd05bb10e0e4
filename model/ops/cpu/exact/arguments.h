// What the kernels of the exact path take: one plain struct each, all in float64. One target and
// one key column, sources one behind the other. Pointers and sizes only; no threads, no LibTorch.
#pragma once
#include <cstdint>

namespace aft::ops::cpu {

// Biases and keys of some sources.
struct ExactTerms {
    const double *w = nullptr, *k = nullptr;
    int64_t count = 0;
};
// p_j = exp(w_j + k_j - top); their sum is the result.
struct ExactWeights {
    ExactTerms terms;
    double top = 0;
    double* p = nullptr;
};
// One channel of the gradient: dv_j += P p_j, and to dk_j and dw_j are added P p_j (v_j - average).
struct ExactBack {
    const double *p = nullptr, *v = nullptr;
    double P = 0, average = 0;
    int64_t count = 0;
    double *dv = nullptr, *dk = nullptr, *dw = nullptr;
};

}  // namespace aft::ops::cpu
