// Counting what a layer costs: what the cost functions of the mixer rooms are written with. Numbers
// are doubles, exact up to 2^53, and never overflow. No tensors. Any thread. What is counted, and
// what is not: LayerCost in model/traits.h.
#pragma once
#include "model/config.h"
#include "model/traits.h"

namespace aft {

// Sizes of a layer, and the sum so far.
struct LayerCount {
    double T = 0, d = 0, n = 0;  // tokens, model.dim, width of q, k and v
    double h = 1, w = 0;         // heads, channels of a head
    bool causal = false;
    LayerCost cost;

    LayerCount(const ModelConfig& model, const CostShape& shape);
    // x [T, in] -> [T, out]; one row of it in decoding.
    void map(double in, double out, bool has_bias);
    // A product without parameters; the backward pass takes so many times the forward's.
    void product(double multiply_adds, double backward = 2);
    void keep(double numbers) { cost.kept_bytes += 4 * numbers; }
};

// What becomes of q, k and v for the backward pass: they are kept; the operator keeps copies of its
// own; or they are computed again, and so is the input of the output projection, where there is one
// (nn/fused_branch.h: AFT).
enum class Operands { kept, copied, recomputed };

// q (with a query gate), k, v and the output projection of make_projections(): of the fused layers
// x and the norm's statistics are kept, besides the operands.
void count_projections(LayerCount& count, const ModelConfig& model, double key_channels,
                       Operands operands = Operands::kept);
// The output projection alone, where the model has it; its input is kept.
void count_output_map(LayerCount& count, const ModelConfig& model);

// Pairs of a target and a source with |t - j| < window, for causal of those with j <= t.
[[nodiscard]] double visible_pairs(double T, double window, bool causal);

// exp(K) and exp(K) V as running sums over T, of the kernels of model/ops/cpu/scan: 12 operations a
// number forward and 30 backward, as the benchmark counts them (bench/workloads/problem.cpp).
void count_running_sums(LayerCount& count);

// What a target's sums over its window are made of.
struct WindowSize {
    double sources = 0;           // of a target, on average
    double values = 0, keys = 0;  // channels of V and of K
    double factors = 0;           // of w = u r^T; 0: none
};
// Whether the fused layers make the averages and denominators of a target again in the backward
// pass (mixers/fused_branch.h): where that is at most a 25th of the 36 d^2 multiply-adds that a
// token costs a block's training step. Else they are kept.
[[nodiscard]] bool is_averaged_again(const WindowSize& window, double d);
// Averages and denominators; of layers that are not fused they are kept.
void count_averages(LayerCount& count, const WindowSize& window, bool is_fused);

// AFT with w [T, T] or u r^T over so many pairs (model/ops/cpu/band): numerator and denominator,
// backward the same for the transposed sums and for the gradient of w; with factors w is formed
// twice, and u and r have their gradients.
void count_weighted_sums(LayerCount& count, const ModelConfig& model, double pairs);
// Its packed decoder (model/decode): K, V and exp(K) of so many sources in float32, sums for a
// block of 32 targets, and the sums of what has left the window.
void count_history(LayerCount& count, const ModelConfig& model, double sources);

// aft-conv with its projections: taps of a head, pairs of a tap and a target inside the sequence or
// picture, sources of the decoder with a weight of their own (mixers/stream.h, float64).
struct KernelCount {
    double values = 0, pairs = 0, history = 0;
};
void count_kernel(LayerCount& count, const ModelConfig& model, const KernelCount& kernel);

// Softmax attention of LibTorch's fused kernel over so many pairs: two products forward, five
// backward (the weights are computed again); it keeps the logarithm of every row's sum.
void count_attention(LayerCount& count, double pairs);

// The same on blocks of targets with the sources that they share (SparseAttention): all pairs of a
// block are computed and masked; q, k, v and the result are kept as blocks, with the mask.
struct BlockCount {
    double blocks = 0, targets = 0, sources = 0;  // targets and sources of each
    double seen = 0;                              // sources of one token, in decoding
};
void count_block_attention(LayerCount& count, const ModelConfig& model, const BlockCount& blocks);

// K and V of all tokens, read again for each token that sees `sources` of them.
void count_key_value_cache(LayerCount& count, double sources);

}  // namespace aft
