// Mutations of the choice of a token: temperature, top-k, top-p, and the walk along the values.
#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "model/decode/decode.h"
#include "tests/mutants.h"

namespace aft {
namespace {

using Sampler = std::function<int64_t(const std::vector<float>&, const SampleOptions&, double)>;

struct SamplerMistakes {
    int top_p_more = 0, top_k_more = 0;  // values kept beside the right ones
    bool p_before_k = false, temperature_last = false, inverse_temperature = false;
    bool last_of_equal = false, no_renormalisation = false, likely_first = false, ignore_u = false;
};

// Shares that are kept: by top-k, then by top-p of what top-k kept.
void truncate_with(std::vector<double>& share, const SampleOptions& options,
                   const SamplerMistakes& wrong) {
    std::vector<size_t> order(share.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return share[a] > share[b]; });
    const auto all = static_cast<int64_t>(share.size());
    const int64_t k = options.top_k > 0 ? std::min(all, options.top_k + wrong.top_k_more) : all;
    double total = 0, sum = 0;
    for (int64_t i = 0; i < (wrong.p_before_k ? all : k); ++i) total += share[order[size_t(i)]];
    int64_t kept = 0;
    while (kept < all && sum < options.top_p * total) sum += share[order[size_t(kept++)]];
    if (options.top_p < 1) kept = std::max<int64_t>(1, kept + wrong.top_p_more);
    for (int64_t i = std::min(kept, k); i < all; ++i) share[order[size_t(i)]] = 0;
}

int64_t sample_with(const std::vector<float>& logits, const SampleOptions& options, double u,
                    const SamplerMistakes& wrong) {
    if (options.temperature <= 0) {
        if (wrong.last_of_equal)
            return logits.rend() - std::max_element(logits.rbegin(), logits.rend()) - 1;
        return std::max_element(logits.begin(), logits.end()) - logits.begin();
    }
    const double power = wrong.inverse_temperature ? options.temperature : 1 / options.temperature;
    std::vector<double> share;
    for (const float logit : logits) share.push_back(std::exp(logit));
    const auto heat = [&] {
        for (double& value : share) value = std::pow(value, power);
    };
    if (!wrong.temperature_last) heat();
    truncate_with(share, options, wrong);
    if (wrong.temperature_last) heat();
    std::vector<size_t> walk(share.size());
    std::iota(walk.begin(), walk.end(), size_t{0});
    if (wrong.likely_first)
        std::stable_sort(walk.begin(), walk.end(),
                         [&](size_t a, size_t b) { return share[a] > share[b]; });
    const double total =
        wrong.no_renormalisation ? 1 : std::accumulate(share.begin(), share.end(), 0.0);
    double sum = 0;
    size_t last = 0;
    for (const size_t i : walk) {
        if (share[i] <= 0) continue;
        last = i;
        sum += share[i];
        if ((wrong.ignore_u ? 0.5 : u) * total < sum) break;
    }
    return static_cast<int64_t>(last);
}

struct SamplerCase {
    SampleOptions options;
    std::vector<double> shares;  // of 0.1, 0.5, 0.15, 0.25, worked out by hand
};

std::vector<SamplerCase> sampler_cases() {
    const auto with = [](int64_t top_k, double top_p, double temperature) {
        SampleOptions options;
        options.top_k = top_k;
        options.top_p = top_p;
        options.temperature = temperature;
        return options;
    };
    return {{with(0, 1, 1), {0.1, 0.5, 0.15, 0.25}},
            {with(0, 1, 0), {0, 1, 0, 0}},
            {with(0, 1, 0.5), {.01 / .345, .25 / .345, .0225 / .345, .0625 / .345}},
            {with(2, 1, 1), {0, 2.0 / 3, 0, 1.0 / 3}},
            {with(0, 0.7, 1), {0, 2.0 / 3, 0, 1.0 / 3}},
            {with(0, 0.76, 1), {0, .5 / .9, .15 / .9, .25 / .9}},
            {with(0, 0.0001, 1), {0, 1, 0, 0}},
            {with(0, 0.7, 0.5), {0, 1, 0, 0}},
            {with(2, 0.6, 1), {0, 1, 0, 0}},
            {with(3, 0.8, 1), {0, 2.0 / 3, 0, 1.0 / 3}}};
}

// u in equal steps: how often a value comes is its share, and values come in their own order.
std::string what_is_wrong(const Sampler& sampler) {
    constexpr int kSteps = 4000;
    std::vector<float> logits;
    for (const double p : {0.1, 0.5, 0.15, 0.25}) logits.push_back(float(std::log(p)));
    for (const SamplerCase& c : sampler_cases()) {
        std::vector<int> hits(4);
        int64_t before = 0;
        for (int i = 0; i < kSteps; ++i) {
            const int64_t value = sampler(logits, c.options, (i + 0.5) / kSteps);
            if (value < before) return "the values do not come in their own order";
            before = value;
            ++hits[size_t(value)];
        }
        for (size_t v = 0; v < 4; ++v)
            if (std::abs(hits[v] / double(kSteps) - c.shares[v]) > 1e-3)
                return "the share of a value is another one";
    }
    SampleOptions greedy;
    greedy.temperature = 0;
    return sampler({2, 5, 5}, greedy, 0.9) == 1 ? "" : "not the first of equal values";
}

TEST(Mutants, SamplerMistakesAreNoticed) {
    const auto with = [](const std::string& name, const SamplerMistakes& wrong) {
        return Mutant<Sampler>{name, [wrong](const auto& logits, const auto& options, double u) {
                                   return sample_with(logits, options, u, wrong);
                               }};
    };
    const Sampler real = [](const auto& logits, const auto& options, double u) {
        return choose_token(logits.data(), static_cast<int64_t>(logits.size()), options, u);
    };
    EXPECT_EQ(what_is_wrong(with("none", {}).part), "");
    expect_noticed(what_is_wrong, real,
                   {with("top-p keeps one too few", {.top_p_more = -1}),
                    with("top-p keeps one too many", {.top_p_more = 1}),
                    with("top-k keeps one too many", {.top_k_more = 1}),
                    with("top-p counts what top-k leaves out", {.p_before_k = true}),
                    with("temperature after top-p", {.temperature_last = true}),
                    with("logits times the temperature", {.inverse_temperature = true}),
                    with("greedy takes the last of equal values", {.last_of_equal = true}),
                    with("what is kept does not sum to one", {.no_renormalisation = true}),
                    with("the most likely value first", {.likely_first = true}),
                    with("the random number is ignored", {.ignore_u = true})});
}

}  // namespace
}  // namespace aft
