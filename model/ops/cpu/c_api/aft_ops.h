// The AFT operators of the processor behind a C interface: pointers and sizes, no LibTorch and no
// C++ in sight, so that a program of any language, and any version of PyTorch, calls the very
// kernels that this program trains with. Built as libafterimage_ops.so; the Python package
// registers them as torch.ops.afterimage.* (python/afterimage/operators.py).
// Any thread; a call runs on an OpenMP team of `threads` and returns when it is done.
#pragma once
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { AFT_OPS_VERSION = 1 };

// The paper's equations 2 (full), 4 and 7 (local), 5 (simple), 6 and 8 (conv1d, conv2d).
enum AftKind { AFT_SIMPLE = 0, AFT_FULL, AFT_LOCAL, AFT_CONV1D, AFT_CONV2D };

struct AftShape {
    int32_t kind;            // AftKind
    int32_t causal;          // 1: target t sees sources up to t
    int32_t outside_hidden;  // local: sources outside the window are invisible, else w = 0 there
    int32_t bf16;            // q, k, v, y, dy and their gradients are bfloat16, else float32
    int32_t threads;         // at least 1
    int64_t batch, length, channels;  // B, T, d
    int64_t window;                   // local: |t - j| < window; conv: taps s along an axis
    int64_t heads;                    // conv
    int64_t factors;                  // full, local: w = u r^T with u, r [T, factors]; 0: w [T, T]
    int64_t grid_height, grid_width;  // conv2d: T = height * width
};

// Contiguous. q, k, v, y [B, T, d]; conv: k [B, T, heads]. Null: q where there is no gate, w or u
// and r where there is none.
struct AftTensors {
    const void *q, *k, *v;
    const float *w, *u, *r;  // w [T, T], or kernels [heads, s] or [heads, s, s]
};

// What the forward pass keeps for the gradient: average [B, T, d] and denominator as k, or of
// simple states, aft_ops_states() numbers. Null: no gradient is wanted.
struct AftKept {
    float *average, *denominator, *states;
};

struct AftGradients {
    const void* dy;       // as y: what comes from above
    const float* mean;    // [B, d], of V over T
    float scale;          // a power of two that brings dy near 2^20
    void *dq, *dk, *dv;   // as q, k, v
    float *dw, *du, *dr;  // as w, u, r; dw of full and local is set to 0 by the caller
    // Squares of dK and of the first of its two terms: where the first is small beside the second
    // dK has lost its digits and is to be computed in float64.
    double left, part;
};

int32_t aft_ops_version(void);
const char* aft_ops_instruction_set(void);  // "avx512", "avx2", "portable"
// What is wrong with a shape, in words of at most `size` bytes with the 0 at the end; returns 0,
// and writes "", where it is right.
int32_t aft_ops_problem(const struct AftShape* shape, char* words, int64_t size);
int64_t aft_ops_states(const struct AftShape* shape);

// y. 1: all entries are safe. 0: some exceed what float32 can scale (|K| or |w| of hundreds of nats
// apart); simple: y is not to be used; else those entries of y are NaN and their denominators -1.
// -1: the shape is wrong, or there is no memory; nothing is written.
int32_t aft_ops_forward(const struct AftShape* shape, const struct AftTensors* in, void* y,
                        const struct AftKept* kept);
// kept: of the forward pass of this shape. 0, or -1 as above.
int32_t aft_ops_backward(const struct AftShape* shape, const struct AftTensors* in,
                         const struct AftKept* kept, struct AftGradients* gradients);

#ifdef __cplusplus
}
#endif
