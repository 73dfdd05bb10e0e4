// Which norm (or mean) of a position bias a number is: two of one layer never stand under one word.
// Pure; any thread.
#pragma once
#include <string>

namespace aft::app {

// Of training, logged at every step: Frobenius norm of raw w over all pairs (target, source), those
// that no target sees included; of the taps for kernels.
[[nodiscard]] inline std::string norm_of_training(bool has_kernel) {
    return has_kernel ? "raw w, all taps" : "raw w, all pairs";
}

// Of the panes of Biases and of `inspect`: what the operator uses.
[[nodiscard]] inline std::string of_what(bool has_kernel) {
    return has_kernel ? "all taps" : "visible pairs";
}

}  // namespace aft::app
