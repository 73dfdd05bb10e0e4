// What the kernels of aft-conv take: one plain struct each. All of float32 but for tensors of T:
// float, or Bf16 (scaling.h). No LibTorch.
//
// Columns. A group of heads is handled at a time. Its values (exp(K_j) V_j, one column per channel)
// and its keys (exp(K_j), one column per head) are columns of the same sums, each with the weights
// of its head; the average of a channel is its value column over its head's key column. Columns go
// in blocks of two vectors: a panel is [blocks][rows of the block, 2 lanes].
#pragma once
#include <cstdint>

namespace aft::ops::cpu {

// sum[r] += sum over rows and i of a[i] * b[base + i + r], element by element of a block, for the r
// < count and only where 0 <= base + i + r < width. With weights as a and sources as b this is a
// row of taps for `count` targets; with targets as a and sources as b the products that make up the
// gradient of `count` taps.
struct Slide {
    const float* a = nullptr;  // two vectors, `second` floats apart
    int64_t a_step = 0, a_row = 0, second = 0;
    const float* b = nullptr;  // row of width elements of a block
    int64_t b_row = 0;
    int64_t n = 0, base = 0, width = 0, rows = 0;
    float* sum = nullptr;  // [count, 2 lanes]
    int64_t count = 0;     // <= widest; elements past the end of b are read, not used
};
using SlideFunction = void (*)(const Slide&);

// sum[r] += sum over rows and visible sources j of a[j - x - r] * b[j], for the targets x + r, r <
// count, of a row of the grid: those with -left <= j - x - r <= right and 0 <= j < width. Of one
// vector; positions of b and sum are two vectors apart.
struct KernelTaps {
    const float* a = nullptr;  // weight of tap 0 and of the first row
    int64_t a_step = 0, a_row = 0;
    const float* b = nullptr;  // first row of sources
    int64_t b_row = 0, rows = 0, width = 0;
    int64_t left = 0, right = 0;
    int64_t x = 0, count = 0;  // x: a multiple of the tile's size; count: at most that
    float* sum = nullptr;      // [count, 2 lanes]
};
using TapsFunction = void (*)(const KernelTaps&);

// Receptive field of a target; mirrored for the transposed (gradient) pass.
struct ConvWindow {
    int64_t height = 0, width = 0;  // of the grid; T = height * width; 1-d: height = 1
    int64_t up = 0, down = 0, left = 0, right = 0;  // reach
    // Causal: rows below and, in the target's own row, columns right of it are invisible
    // (transposed: above, and left).
    bool causal = false, transposed = false;
};

// Where the columns of a group are.
struct ConvLayout {
    int64_t width = 0;                    // channels of a head
    int64_t values = 0, keys = 0;         // vectors of channels and of heads
    int64_t blocks = 0, block = 0;        // and floats of a block: the rows, and some behind
    int64_t head_row = 0;                 // floats of a row of heads
    bool paired = false;                  // one channel per head: block v = [values v, keys v]
    const int32_t* head_of = nullptr;     // [values, lanes]: head of a channel, less first_head
    const int64_t* first_head = nullptr;  // [values]
    int64_t heads = 0, channels = 0;      // of this group: the last group has fewer
    int64_t stride = 0, key_stride = 0;   // floats between positions of V and of K
    int64_t rows = 0;                     // T
};

// K, V of one sample and group -> [exp(K) (V - mean), exp(K)].
template <class T>
struct ConvPack {
    const ConvLayout* layout = nullptr;
    const T *k = nullptr, *v = nullptr;
    const float* mean = nullptr;               // [channels] or none
    float *panel = nullptr, *heads = nullptr;  // heads: scratch [T + 1, head_row]
};

// Sums over what each target sees outside its window, times `one`: parts that are only added to.
// Row after row of the grid, from the first on.
struct ConvOutside {
    ConvWindow window;
    const float *panel = nullptr, *one = nullptr;  // one block; [2 lanes]
    float* sums = nullptr;                         // [width, 2 lanes]: the row
    float* scratch = nullptr;                      // [outside_scratch(), 2 lanes]
    int64_t middle = 0, end = 0;                   // rows in the sums of the scratch
};
// The scratch: sums of the rows before each and from each on, a row, and the sides of all rows.
[[nodiscard]] constexpr int64_t outside_scratch(int64_t height, int64_t width) {
    return 2 * (height + 1) + width + (height > 1 ? height * width : 0);
}

template <class T>
struct ConvFinish {
    const ConvLayout* layout = nullptr;
    const float* sums = nullptr;
    const T* q = nullptr;
    float* heads = nullptr;  // scratch [head_row]
    T* y = nullptr;
    float *average = nullptr, *denominator = nullptr;  // or none
};

// Factors of the gradient: [A | C] as a panel.
template <class T>
struct ConvFactors {
    const ConvLayout* layout = nullptr;
    const T *q = nullptr, *dy = nullptr;
    const float *average = nullptr, *denominator = nullptr;
    const float* mean = nullptr;
    float scale = 1;  // of dy
    T* dq = nullptr;
    float* panel = nullptr;
    float *heads = nullptr, *lanes = nullptr;  // scratch [head_row], [channels rounded up]
};

// Gradients dV, dK of one sample and group.
template <class T>
struct ConvKeys {
    const ConvLayout* layout = nullptr;
    const float *panel = nullptr, *sums = nullptr;
    float scale = 1;
    T *dk = nullptr, *dv = nullptr;
    float *heads = nullptr, *lanes = nullptr;
};

}  // namespace aft::ops::cpu
