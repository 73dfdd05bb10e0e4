// Which norm (or mean) of a position bias a number is: two of one layer never stand under one word.
// A norm is the Frobenius norm and says so; the root mean square is called RMS, nowhere a norm.
// Pure; any thread.
#pragma once
#include <string>

namespace aft::app {

// Root mean square of the probe "formation", of what rms_pairs() says.
inline constexpr const char* kRmsOfW = "RMS of w";
inline constexpr const char* kFrobeniusNorm = "Frobenius norm";

// Of training, logged at every step: raw w over all pairs (target, source), those that no target
// sees included; of the taps for kernels.
[[nodiscard]] inline std::string norm_of_training(bool has_kernel) {
    return std::string("Frobenius, ") + (has_kernel ? "raw w, all taps" : "raw w, all pairs");
}

// Of the panes of Biases and Compare and of `inspect`: what the operator uses.
[[nodiscard]] inline std::string of_what(bool has_kernel) {
    return has_kernel ? "all taps" : "visible pairs";
}
[[nodiscard]] inline std::string pairs_and_gauge(bool has_kernel, bool is_fixed) {
    return of_what(has_kernel) + (is_fixed && !has_kernel ? ", gauge fixed" : ", raw");
}
[[nodiscard]] inline std::string rms_pairs(bool has_kernel) {
    return pairs_and_gauge(has_kernel, true);
}

}  // namespace aft::app
