// Sampling one token. The random number walks the values in their own order, so that two similar
// distributions under the same number mostly choose the same or a neighbouring value.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "model/decode/decode.h"

namespace aft {

namespace {

int64_t most_likely(const float* logits, int64_t levels) {
    return std::max_element(logits, logits + levels) - logits;
}

// Keeps the top-k values, then the fewest of these whose share reaches top-p; the rest becomes 0.
void truncate(std::vector<double>& share, const SampleOptions& options) {
    const auto levels = static_cast<int64_t>(share.size());
    std::vector<int64_t> order(share.size());
    std::iota(order.begin(), order.end(), int64_t{0});
    std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
        return share[static_cast<size_t>(a)] > share[static_cast<size_t>(b)];
    });
    const int64_t most = options.top_k > 0 ? std::min(options.top_k, levels) : levels;
    double total = 0;
    for (int64_t i = 0; i < most; ++i) total += share[static_cast<size_t>(order[i])];
    double sum = 0;
    for (int64_t i = 0; i < levels; ++i) {
        double& value = share[static_cast<size_t>(order[i])];
        const bool kept = i < most && (i == 0 || sum < options.top_p * total);
        sum += value;
        if (!kept) value = 0;
    }
}

}  // namespace

int64_t choose_token(const float* logits, int64_t levels, const SampleOptions& options,
                     double uniform) {
    if (options.temperature <= 0) return most_likely(logits, levels);
    const double top = logits[most_likely(logits, levels)];
    std::vector<double> share(static_cast<size_t>(levels));
    for (int64_t i = 0; i < levels; ++i)
        share[static_cast<size_t>(i)] = std::exp((logits[i] - top) / options.temperature);
    if (options.top_k > 0 || options.top_p < 1) truncate(share, options);
    const double total = std::accumulate(share.begin(), share.end(), 0.0);
    double sum = 0;
    int64_t last = 0;
    for (int64_t i = 0; i < levels; ++i) {
        if (share[static_cast<size_t>(i)] <= 0) continue;
        last = i;
        sum += share[static_cast<size_t>(i)];
        if (uniform * total < sum) return i;
    }
    return last;
}

}  // namespace aft
