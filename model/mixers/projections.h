// The linear maps around an operator: q, k, v before it and o after it. Shared by the mixer rooms.
#pragma once
#include "model/mixers/mixer.h"
#include "model/nn/layers.h"

namespace aft {

struct Projected {
    at::Tensor x, q, k, v;  // q undefined without a query gate; x for the residual sum
};

struct Projections {
    std::optional<Linear> q;  // none without a query gate
    Linear k, v;              // k: d or, with key_channels, h outputs
    std::optional<Linear> o;  // none with model.output_projection off

    // x, q, k, v of norm(x) for x [B, T, d], as float32 nets on the processor do it (nn/fused.h).
    [[nodiscard]] Projected of_normed(const at::Tensor& x, const Norm& norm,
                                      Arithmetic arithmetic) const;
    // x + dropout(out(y)), the same way
    [[nodiscard]] at::Tensor add_out(const at::Tensor& x, const at::Tensor& y,
                                     const BranchEnd& end) const;
    // y [..., inner] -> [..., d]
    [[nodiscard]] at::Tensor out(const at::Tensor& y) const { return o ? (*o)(y) : y; }
};

// One of the maps to q, k and v, with a bias if the config says so.
[[nodiscard]] Linear make_inner_map(ParameterMaker& maker, const ModelConfig& config,
                                    const std::string& name, int64_t out);
// The way back from the inner width, where the config has one.
[[nodiscard]] std::optional<Linear> make_output_map(ParameterMaker& maker,
                                                    const ModelConfig& config,
                                                    const std::string& prefix);
[[nodiscard]] Projections make_projections(ParameterMaker& maker, const ModelConfig& config,
                                           const std::string& prefix, int64_t key_channels);

// Hands a value to the tap, if there is one.
void show(const MixContext& context, const char* name, const at::Tensor& value);

// usage Errors of settings that several rooms refuse
void check_no_heads(const ModelConfig& config);
void check_heads_divide(const ModelConfig& config);

}  // namespace aft
