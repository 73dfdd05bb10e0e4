// The vector kernels of the CPU backend as one table of plain functions per instruction set, and
// the choice among them. Pointers and sizes only; no threads, no LibTorch. All of float32.
#pragma once
#include <string_view>

#include "model/ops/cpu/arguments.h"
#include "model/ops/cpu/conv_arguments.h"
#include "model/ops/cpu/scan_arguments.h"
#include "model/ops/cpu/weight_arguments.h"

namespace aft::ops::cpu {

// What a link of a long sample does: its own sums, theirs with those next to it, the results.
template <class R>
struct LinkKernels {
    void (*begin)(const ScanLink&) = nullptr;
    void (*join)(const ScanLink&) = nullptr;
    R (*end)(const ScanLink&) = nullptr;
};

struct Kernels {
    const char* name = nullptr;
    int64_t channels = 0;  // C
    int64_t lanes = 0;
    int64_t outer_rows = 0;  // register tile of outer(): outer_rows x outer_lanes
    int64_t outer_lanes = 0;
    void (*key_reference)(const PackKeys&) = nullptr;  // of any number of rows
    void (*pack_keys)(const PackKeys&) = nullptr;
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
    bool (*finish_rows)(const FinishRows&) = nullptr;  // whether all entries are safe
    void (*row_factors)(const RowFactors&) = nullptr;
    void (*outside_sums)(const OutsideSums&) = nullptr;
    Norms (*finish_keys)(const FinishKeys&) = nullptr;
    bool (*scan)(const Scan&) = nullptr;      // whether all results are finite
    bool (*scan_all)(const Scan&) = nullptr;  // not causal
    void (*scan_gradient)(const ScanGradient&) = nullptr;
    void (*scan_all_gradient)(const ScanGradient&) = nullptr;
    int64_t (*scan_room)(int64_t channels) = nullptr;  // floats
    LinkKernels<bool> scan_link;                       // its end: whether all results are finite
    LinkKernels<Norms> scan_link_gradient;             // its end: the norms of its rows
    void (*scan_centre)(const Scan&, float* mean) = nullptr;  // of V -> [channels]
    int64_t slide = 0;                                        // most slots of a slide
    const SlideFunction* slides = nullptr;                    // by the number of slots
    int64_t tile = 0;                                         // largest tile of taps
    const TapsFunction* taps = nullptr;                       // by the size of the tile
    void (*conv_pack)(const ConvPack&) = nullptr;
    void (*conv_rows)(const ConvOutside&) = nullptr;  // into the scratch, before the next:
    void (*conv_outside)(ConvOutside&, int64_t row) = nullptr;  // of the grid
    bool (*conv_finish)(const ConvFinish&) = nullptr;           // whether all entries are safe
    void (*conv_factors)(const ConvFactors&) = nullptr;
    Norms (*conv_gradients)(const ConvKeys&) = nullptr;
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
