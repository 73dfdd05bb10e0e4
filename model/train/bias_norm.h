// The size of a layer's effective position bias, one of the figures of every training step.
// Trainer thread; builds nothing of T x T elements unless w is learned without factors.
#pragma once
#include <optional>

#include "model/mixers/mixer.h"

namespace aft {

// Sum of the squares of w over all pairs of `tokens` positions (both sides of the diagonal, causal
// or not), of the taps for kernels; nullopt for mixers without a position bias.
[[nodiscard]] std::optional<double> squared_bias(const Mixer& mixer, int64_t tokens);

}  // namespace aft
