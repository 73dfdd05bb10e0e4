// Symmetry of position biases, against its definition pair by pair, and with known answers.
#include <cmath>

#include "model/interventions/intervention.h"
#include "tests/model/probe/probe_fixture.h"

namespace aft {
namespace {

at::Tensor symmetry_of(Bench& bench, int64_t layer) {
    ProbeRequest request;
    request.probe = "symmetry";
    request.layer = layer;
    return tensor_of(bench.run(request).fields.at(0));
}

struct PairSums {
    double product = 0, square = 0;
    void add(double a, double b) {
        product += 2 * a * b;
        square += a * a + b * b;
    }
    [[nodiscard]] double share() const { return (1 + product / square) / 2; }
};

// Of a dense bias [T, T] with hidden sources at -inf; where[i]: pixel of what source i carries.
std::vector<double> mirrored(const at::Tensor& w, int64_t width, int64_t shift) {
    const int64_t T = w.size(0);
    const auto value = [&](int64_t t, int64_t j) { return w[t][j].item<double>(); };
    const auto is_there = [&](int64_t j) { return j >= 0 && j < T; };
    PairSums exchange, across, upright;
    for (int64_t t = 0; t < T; ++t)
        for (int64_t j = 0; j < T; ++j) {
            if (!std::isfinite(value(t, j))) continue;
            if (j < t && std::isfinite(value(j, t))) exchange.add(value(t, j), value(j, t));
            const int64_t place = j - shift;
            if (place < 0) continue;
            const int64_t dx = place % width - t % width, dy = place / width - t / width;
            const int64_t x = t % width - dx, y = t / width - dy;
            const int64_t right = j - 2 * dx, below = j - 2 * dy * width;
            if (dx < 0 && x < width && is_there(right) && std::isfinite(value(t, right)))
                across.add(value(t, j), value(t, right));
            if (dy < 0 && y < (T + width - 1) / width && is_there(below) &&
                std::isfinite(value(t, below)))
                upright.add(value(t, j), value(t, below));
        }
    return {exchange.share(), across.share(), upright.share()};
}

TEST(Symmetry, IsTheDefinitionPairByPair) {
    const std::pair<const char*, const char*> models[] = {
        {"aft-full", "image"}, {"aft-full", "text"}, {"aft-full", "classify"}};
    for (const auto& [mixer, task] : models) {
        SCOPED_TRACE(std::string(mixer) + " " + task);
        ModelConfig model = tiny_model(mixer, task);
        model.own["class_token"] = false;
        Bench bench(model);
        const at::Tensor found = symmetry_of(bench, 1), w = dense(bench.net, 1);
        const bool is_text = task_traits(model).is_text();
        const int64_t width = is_text ? w.size(1) : model.grid_width();
        const auto expected = mirrored(w[0], width, model.causal() ? 1 : 0);
        ASSERT_EQ(found.size(0), w.size(0));
        for (int64_t i = 0; i < 3; ++i) {
            const double number = found[0][i].item<double>();
            const double wanted = expected[size_t(i)];
            EXPECT_EQ(std::isnan(number), std::isnan(wanted)) << i << " " << number;
            EXPECT_TRUE(std::isnan(wanted) || std::abs(number - wanted) < 1e-6)
                << i << " " << number << " " << wanted;
        }
    }
}

TEST(Symmetry, OfACausalTextNothingIsDefinedAndOfACausalPictureLeftAndRight) {
    Bench text(tiny_model("aft-full", "text")), picture(tiny_model("aft-full", "image"));
    EXPECT_TRUE(symmetry_of(text, 0).isnan().all().item<bool>());
    const at::Tensor found = symmetry_of(picture, 0);
    EXPECT_TRUE(std::isnan(found[0][0].item<double>()));
    EXPECT_FALSE(std::isnan(found[0][1].item<double>()));
    EXPECT_TRUE(std::isnan(found[0][2].item<double>()));
}

TEST(Symmetry, OfTheMeanWithItsMirrorImageIsOne) {
    ModelConfig model = tiny_model("aft-full", "classify");
    model.own["class_token"] = false;
    Bench bench(model);
    EXPECT_LT(symmetry_of(bench, 0)[0][0].item<double>(), 0.999);
    apply_recipe(bench.net, {.interventions = {{.name = "symmetrise", .options = {}}}});
    EXPECT_NEAR(symmetry_of(bench, 0)[0][0].item<double>(), 1, 1e-6);
}

}  // namespace
}  // namespace aft
