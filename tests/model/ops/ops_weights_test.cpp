// The weights e^w of a row as the kernels store them, against float64: 2^30 above the largest, with
// nothing lost to that shift, from biases in float32 and in float64.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "model/ops/cpu/band/arguments.h"
#include "model/ops/cpu/band/kernels.h"

namespace aft::ops::cpu {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

double in_bits(float w) {
    return static_cast<double>(w) * 1.4426950408889634074;
}

// Of biases in float32 or, `wide`, in float64.
std::vector<float> weights_of(const std::vector<float>& w, float largest, bool wide) {
    const std::vector<double> doubles(w.begin(), w.end());
    const auto n = static_cast<int64_t>(w.size());
    std::vector<float> out(w.size() + static_cast<std::size_t>(band_kernels().lanes));
    band_kernels().bias.weight_row({.w = wide ? nullptr : w.data(),
                                    .wide = wide ? doubles.data() : nullptr,
                                    .last = n,
                                    .end = n,
                                    .largest = largest,
                                    .out = out.data()});
    out.resize(w.size());
    return out;
}

TEST(OpsWeights, lose_nothing_to_their_shift) {
    // Far beyond what is promised exponents are less exact, those of the portable kernels most.
    for (const float top : {0.0F, 3.3F, 50.0F, -700.0F, 1000.0F, 2e7F, -2e7F})
        for (const bool wide : {false, true}) {
            std::vector<float> w;
            for (int i = 0; i < 37; ++i) w.push_back(top - 0.41F * static_cast<float>(i));
            const auto largest = static_cast<float>(std::ceil(in_bits(top)));
            const std::vector<float> found = weights_of(w, largest, wide);
            for (std::size_t i = 0; i < w.size(); ++i) {
                const double bits = in_bits(w[i]) - static_cast<double>(largest);
                const double truth = std::exp2(bits + static_cast<double>(kBiasShift));
                const double allowed = std::abs(top) <= 1000 ? 2.5e-7 : 1e-3;
                EXPECT_NEAR(found[i] / truth, 1, allowed) << w[i] << " " << wide;
            }
        }
}

TEST(OpsWeights, far_below_is_nothing_and_nan_stays) {
    const std::vector<float> w{0, -kInfinity, -3.4e38F, -400, -65, std::nanf(""), 1, 0};
    for (const bool wide : {false, true}) {
        const std::vector<float> found = weights_of(w, 2, wide);
        for (const std::size_t i : {1, 2, 3}) EXPECT_EQ(found[i], 0.0F) << w[i] << " " << wide;
        EXPECT_NEAR(found[4] / std::exp2(in_bits(-65) + 28), 1, 2.5e-7) << wide;
        EXPECT_TRUE(std::isnan(found[5])) << wide;
        EXPECT_NEAR(found[6] / std::exp2(in_bits(1) + 28), 1, 2.5e-7) << wide;
        EXPECT_EQ(found[0], 0x1p28F) << wide;
        EXPECT_EQ(found[7], 0x1p28F) << wide;
    }
}

}  // namespace
}  // namespace aft::ops::cpu
