#include "model/nn/parameters.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <charconv>
#include <cmath>
#include <numbers>
#include <string_view>

#include "core/check.h"
#include "core/rng.h"

namespace aft {

namespace {

// FNV-1a: the random stream of a name.
uint64_t stream_of(const std::string& name) {
    uint64_t hash = 0xcbf29ce484222325;
    for (const char c : name) hash = (hash ^ static_cast<uint8_t>(c)) * 0x100000001b3;
    return hash;
}

// Four normal numbers (Box and Muller 1958) from one Philox block.
void four_normals(uint64_t seed, uint64_t stream, uint64_t counter, float* out) {
    const auto bits = philox(seed, stream, counter);
    for (size_t pair = 0; pair < 2; ++pair) {
        const float u = (static_cast<float>(bits[2 * pair]) + 0.5F) * 0x1p-32F;
        const float angle =
            2 * std::numbers::pi_v<float> * 0x1p-32F * static_cast<float>(bits[2 * pair + 1]);
        const float radius = std::sqrt(std::max(-2 * std::log(u), 0.0F));
        out[2 * pair] = radius * std::cos(angle);
        out[2 * pair + 1] = radius * std::sin(angle);
    }
}

}  // namespace

at::Tensor ParameterMaker::normal(const std::string& name, at::IntArrayRef shape, double std,
                                  ParameterGroup group) {
    const auto options = at::TensorOptions().dtype(at::kFloat).device(device_);
    if (device_.is_meta()) return add(name, at::empty(shape, options), group);
    if (!seed_) return add(name, at::zeros(shape, options), group);
    at::Tensor value = at::empty(shape, at::kFloat);
    const uint64_t stream = stream_of(name), seed = *seed_;
    const int64_t count = value.numel(), blocks = (count + 3) / 4;
    float* data = value.data_ptr<float>();
    at::parallel_for(0, blocks, 4096, [&](int64_t begin, int64_t end) {
        for (int64_t block = begin; block < end; ++block) {
            float four[4];
            four_normals(seed, stream, static_cast<uint64_t>(block), four);
            const int64_t first = 4 * block, last = std::min(count, first + 4);
            for (int64_t i = first; i < last; ++i)
                data[i] = static_cast<float>(std) * four[i - first];
        }
    });
    return add(name, value, group);
}

at::Tensor ParameterMaker::constant(const std::string& name, at::IntArrayRef shape, double value,
                                    ParameterGroup group) {
    const auto options = at::TensorOptions().dtype(at::kFloat).device(device_);
    return add(name, at::full(shape, value, options), group);
}

at::Tensor ParameterMaker::given(const std::string& name, const at::Tensor& value,
                                 ParameterGroup group) {
    return add(name, value.to(at::kFloat), group);
}

int64_t parameter_layer(const std::string& name) {
    for (const std::string_view prefix : {"blocks.", "biases."}) {
        if (!name.starts_with(prefix)) continue;
        int64_t layer = -1;
        std::from_chars(name.data() + prefix.size(), name.data() + name.size(), layer);
        return layer;
    }
    return -1;
}

bool is_finite(const at::Tensor& value) {
    return value.isfinite().all().item<bool>();
}

bool is_sound(const std::string& name, const at::Tensor& value) {
    const bool may_hide = name.ends_with(".mixer.w") || name.starts_with("biases.");
    if (!may_hide) return is_finite(value);
    return value.isfinite().logical_or_(value.isneginf()).all().item<bool>();
}

at::Tensor ParameterMaker::add(const std::string& name, at::Tensor value, ParameterGroup group) {
    for (const Parameter& known : list_) AFT_ASSERT(known.name != name);
    value = value.to(device_).detach();
    value.requires_grad_(group != ParameterGroup::fixed);
    list_.push_back({name, value, group, parameter_layer(name)});
    return value;
}

}  // namespace aft
