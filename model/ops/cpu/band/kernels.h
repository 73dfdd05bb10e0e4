// The vector kernels of the CPU backend as one table of plain functions per instruction set, and
// the choice among them. Pointers and sizes only; no threads, no LibTorch.
#pragma once
#include <string_view>

#include "model/ops/cpu/band/arguments.h"
#include "model/ops/cpu/band/weight_arguments.h"
#include "model/ops/cpu/conv/arguments.h"
#include "model/ops/cpu/exact/arguments.h"
#include "model/ops/cpu/scan/arguments.h"

namespace aft::ops::cpu {

// What a link of a long sample does: its own sums, theirs with those next to it, the results.
template <class R, class T>
struct LinkKernels {
    void (*begin)(const ScanLink<T>&) = nullptr;
    void (*join)(const ScanLink<T>&) = nullptr;
    R (*end)(const ScanLink<T>&) = nullptr;
};

// Those that read or write tensors, which are stored as T: float, or Half.
template <class T>
struct StoredKernels {
    void (*key_reference)(const PackKeys<T>&) = nullptr;  // of any number of rows
    void (*pack_keys)(const PackKeys<T>&) = nullptr;
    bool (*finish_rows)(const FinishRows<T>&) = nullptr;  // whether all entries are safe
    void (*row_factors)(const RowFactors<T>&) = nullptr;
    Norms (*finish_keys)(const FinishKeys<T>&) = nullptr;
    bool (*scan)(const Scan<T>&) = nullptr;      // whether all results are finite
    bool (*scan_all)(const Scan<T>&) = nullptr;  // not causal
    void (*scan_gradient)(const ScanGradient<T>&) = nullptr;
    void (*scan_all_gradient)(const ScanGradient<T>&) = nullptr;
    LinkKernels<bool, T> scan_link;            // its end: whether all results are finite
    LinkKernels<Norms, T> scan_link_gradient;  // its end: the norms of its rows
    void (*scan_centre)(const Scan<T>&, float* mean) = nullptr;  // of V -> [channels]
    void (*conv_pack)(const ConvPack<T>&) = nullptr;
    bool (*conv_finish)(const ConvFinish<T>&) = nullptr;  // whether all entries are safe
    void (*conv_factors)(const ConvFactors<T>&) = nullptr;
    Norms (*conv_gradients)(const ConvKeys<T>&) = nullptr;
};

struct Kernels {
    const char* name = nullptr;
    int64_t channels = 0;  // C
    int64_t lanes = 0;
    int64_t outer_rows = 0;  // register tile of outer(): outer_rows x outer_lanes
    int64_t outer_lanes = 0;
    void (*sum_after)(const SumAfter&) = nullptr;
    // Largest of x[0, n), n >= 1; infinity if one of them is not finite.
    float (*largest_of)(const float* x, int64_t n) = nullptr;
    float (*largest_of_wide)(const double* x, int64_t n) = nullptr;
    void (*weight_row)(const WeightRow&) = nullptr;
    void (*wide_product)(const WideProduct&) = nullptr;
    void (*short_product)(const ShortProduct&) = nullptr;
    void (*multiply)(const Multiply&) = nullptr;  // kRows x 2C
    void (*wide_sums)(const WideSums&) = nullptr;
    void (*outer)(const Multiply&) = nullptr;  // outer_rows x outer_lanes
    // [rows, 2C] -> [rows / outer_lanes, 2C, outer_lanes]
    void (*transpose)(const float* from, int64_t rows, float* to) = nullptr;
    void (*rescale)(const Rescale&) = nullptr;
    void (*outside_sums)(const OutsideSums&) = nullptr;
    int64_t (*scan_room)(int64_t channels) = nullptr;  // floats
    int64_t slide = 0;                                 // most slots of a slide
    const SlideFunction* slides = nullptr;             // by the number of slots
    int64_t tile = 0;                                  // largest tile of taps
    const TapsFunction* taps = nullptr;                // by the size of the tile
    void (*conv_rows)(const ConvOutside&) = nullptr;   // into the scratch, before the next:
    void (*conv_outside)(ConvOutside&, int64_t row) = nullptr;  // of the grid
    ExactKernels exact;
    StoredKernels<float> of_floats;
    StoredKernels<Half> of_halves;

    template <class T>
    [[nodiscard]] const StoredKernels<T>& of() const {
        if constexpr (sizeof(T) == sizeof(Half))
            return of_halves;
        else
            return of_floats;
    }
};

[[nodiscard]] const Kernels& avx512_kernels();
[[nodiscard]] const Kernels& avx2_kernels();
[[nodiscard]] const Kernels& portable_kernels();
// The fastest that this processor runs, chosen once; AFTERIMAGE_CPU=amx|avx512_bf16|avx512|avx2|
// portable asks for one of them (a usage Error if it cannot be had), without what only newer
// processors add to it.
[[nodiscard]] const Kernels& kernels();
[[nodiscard]] std::string_view chosen_set();  // one of these names
[[nodiscard]] std::string_view asked_set();   // by AFTERIMAGE_CPU; empty: none

}  // namespace aft::ops::cpu
