// The plain layers of a net: linear map, layer norm, MLP, dropout, and how their weights start.
// Built once by Net and the mixer rooms; read by one thread at a time. They hold no state but their
// parameters.
#pragma once
#include <ATen/core/Generator.h>
#include <ATen/core/Tensor.h>

#include <optional>
#include <string>

#include "model/config.h"
#include "model/nn/parameters.h"

namespace aft {

struct Linear {
    at::Tensor weight, bias;  // [out, in], [out] (undefined: none)
    [[nodiscard]] at::Tensor operator()(const at::Tensor& x) const;  // [..., in] -> [..., out]
};

struct Norm {
    at::Tensor weight, bias;  // [d]
    double eps = 1e-5;
    [[nodiscard]] at::Tensor operator()(const at::Tensor& x) const;  // [..., d]
};

// fc2(activation(fc1(x))), ratio times as wide inside.
struct Mlp {
    Linear fc1, fc2;
    std::string activation;
    [[nodiscard]] at::Tensor operator()(const at::Tensor& x) const;  // [..., d]
};

// Where a linear map stands decides how it starts: those that end a branch of a block are scaled
// down by 1/sqrt(2 layers) unless model.init is "normal".
enum class BranchPlace { inside, end_of_branch };

struct LinearShape {
    int64_t in, out;
    BranchPlace place = BranchPlace::inside;
    bool has_bias = true;
};

[[nodiscard]] Linear make_linear(ParameterMaker& maker, const ModelConfig& config,
                                 const std::string& name, LinearShape shape);
[[nodiscard]] Norm make_norm(ParameterMaker& maker, const ModelConfig& config,
                             const std::string& name);
[[nodiscard]] Mlp make_mlp(ParameterMaker& maker, const ModelConfig& config,
                           const std::string& name);

struct Dropout {
    double rate = 0;                         // of values; 0 = off
    std::optional<at::Generator> generator;  // of the device of x
    // Stochastic depth (Huang et al. 2016): share of the examples that skip the whole branch.
    double skip_rate = 0;
    [[nodiscard]] bool is_off() const { return rate <= 0 && skip_rate <= 0; }
    [[nodiscard]] at::Tensor operator()(const at::Tensor& x) const;
    // Mask for an x of this shape, examples first: 0 or 1 / (1 - rate), then by example the same
    // of skip_rate. Advances the generator.
    [[nodiscard]] at::Tensor mask(const at::Tensor& x) const;
};

// Precision of matrix products in training. bf16: operands and results are rounded to bfloat16,
// accumulation is in float32; everything else stays float32.
enum class Arithmetic { fp32, bf16 };

// How a branch of a block joins its residual.
struct BranchEnd {
    const Dropout* dropout = nullptr;
    Arithmetic arithmetic = Arithmetic::fp32;
};

}  // namespace aft
