// The truth for small nets in float32: the same net in float64, how far float32 may be off, and
// inputs that leave no choice of reformer's to rounding.
#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "tests/model/net/small_nets.h"

namespace aft {

// Error of a logit over the largest logit: each of 2 blocks adds up 2 norms and 3 maps of 8, 32
// sources and 32 of fc2, then come a norm and the head: gamma_224 = 224 u (Higham 2002, 3.1).
inline constexpr double kLogitError = 224 * 0x1p-24;  // 1.3e-5

// The same net in float64, on the CPU.
[[nodiscard]] inline Net double_net(const Net& net) {
    Net exact(net.config(), std::nullopt);
    copy_values(net.parameters(), exact.parameters());
    to_double(exact);
    return exact;
}

// Logits of the same net in float64 by the definition, on the CPU.
[[nodiscard]] inline at::Tensor exact_logits(const Net& net, const at::Tensor& input) {
    const at::NoGradGuard no_gradients;
    const at::Tensor wide = input.is_floating_point() ? input.to(at::kDouble) : input;
    return double_net(net).forward(wide.cpu(), {.backend = ops::OperatorBackend::reference});
}

// Bounds the float32 error of a hash of reformer's, some units large: 130 terms lead to the one of
// the second block, gamma_130 = 8e-6 of its size.
inline constexpr double kHashError = 1e-4;

// Returns by how much the closest hash [q R; -q R] of a float64 net leads over the next bucket's:
// within kHashError rounding picks the bucket. Infinite for nets without hashes.
[[nodiscard]] inline double hash_lead(const Net& exact, const at::Tensor& input) {
    const auto is_hash = [](const Parameter& p) { return p.name.ends_with("mixer.hash"); };
    double lead = std::numeric_limits<double>::infinity();
    if (std::ranges::none_of(exact.parameters(), is_hash)) return lead;
    const at::NoGradGuard no_gradients;
    const Tap tap = [&](const std::string& name, const at::Tensor& q) {
        for (const Parameter& hash : exact.parameters()) {
            if (!is_hash(hash) || name != fmt::format("blocks.{}.q", hash.layer)) continue;
            const at::Tensor turned = at::matmul(q.reshape({-1, hash.value.size(1)}), hash.value);
            const at::Tensor best = std::get<0>(at::cat({turned, -turned}, 2).topk(2, 2));
            const at::Tensor leads = best.select(2, 0) - best.select(2, 1);
            lead = std::min(lead, leads.min().item<double>());
        }
    };
    static_cast<void>(exact.forward(input, {.tap = &tap}));
    return lead;
}

// input_for() with the first seed from `seed` on that leaves no hash to rounding.
[[nodiscard]] inline at::Tensor decided_input(const Net& net, int64_t batch, int64_t seed) {
    const Net exact = double_net(net);
    at::Tensor input = input_for(net.config(), batch, seed);
    while (hash_lead(exact, input) < kHashError) input = input_for(net.config(), batch, ++seed);
    return input;
}

}  // namespace aft
