// Parameters by canonical name, in the order of the net. Owned by Net; the optimiser and
// checkpoints walk it.
#pragma once
#include <ATen/core/Tensor.h>

#include <optional>
#include <string>
#include <vector>

namespace aft {

// What a parameter is, for weight decay, learning-rate scale and gradient norms per group.
// fixed: drawn once, kept in checkpoints, never trained.
enum class ParameterGroup { linear_weight, bias, norm, embedding, position_bias, fixed };

struct Parameter {
    std::string name;  // "blocks.3.mixer.u"
    at::Tensor value;  // leaf, requires_grad in training unless fixed
    ParameterGroup group = ParameterGroup::linear_weight;
    int64_t layer = -1;  // block index, -1 outside the blocks
};

using Parameters = std::vector<Parameter>;

// "blocks.3.mixer.u", "biases.3" -> 3; -1 outside the layers.
[[nodiscard]] int64_t parameter_layer(const std::string& name);

// No value is NaN or infinite, but for -inf in position biases that are stored pair by pair, which
// hides a source from its target: exp(w) = 0. Reads all of them.
[[nodiscard]] bool is_sound(const std::string& name, const at::Tensor& value);
// No value is NaN or infinite. Reads all of them.
[[nodiscard]] bool is_finite(const at::Tensor& value);

// Creates parameters with their initial values; a function of (seed, name) only, so that adding one
// changes no other. Without a seed nothing is drawn: 0, for values that are copied in afterwards.
class ParameterMaker {
  public:
    ParameterMaker(Parameters& list, std::optional<uint64_t> seed, at::Device device)
        : list_(list), seed_(seed), device_(device) {}
    [[nodiscard]] at::Tensor normal(const std::string& name, at::IntArrayRef shape, double std,
                                    ParameterGroup group);
    [[nodiscard]] at::Tensor constant(const std::string& name, at::IntArrayRef shape, double value,
                                      ParameterGroup group);
    [[nodiscard]] at::Tensor given(const std::string& name, const at::Tensor& value,
                                   ParameterGroup group);
    [[nodiscard]] std::optional<uint64_t> seed() const { return seed_; }
    [[nodiscard]] at::Device device() const { return device_; }

  private:
    at::Tensor add(const std::string& name, at::Tensor value, ParameterGroup group);
    Parameters& list_;
    std::optional<uint64_t> seed_;
    at::Device device_;
};

}  // namespace aft
