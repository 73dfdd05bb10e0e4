// Activation patching: nothing changes where both inputs are one, and after the last layer all of
// the other stream gives the other input's logits.
#include <cmath>

#include "model/probe/parts.h"
#include "tests/model/net/double_net.h"
#include "tests/model/probe/probe_fixture.h"

namespace aft {
namespace {

std::vector<uint8_t> both(std::vector<uint8_t> a, const std::vector<uint8_t>& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
}

std::vector<uint8_t> turned(std::vector<uint8_t> tokens, const ModelConfig& model) {
    for (uint8_t& value : tokens) value = static_cast<uint8_t>((value + 3) % model.levels);
    return tokens;
}

// Bounds the rounding of a loss: twice what a logit may be off by.
double loss_error(const Bench& bench) {
    const at::Tensor input = probe::net_input(bench.model, tiny_tokens(bench.model));
    return 2 * kLogitError * largest(bench.net.forward(input, Pass{}));
}

TEST(Patching, ByTheSameInputNothingChanges) {
    for (const ModelConfig& model : tiny_models(true, true)) {
        SCOPED_TRACE(model.mixer + " " + model.task);
        Bench bench(model);
        ProbeRequest request;
        request.probe = "patching";
        request.tokens = both(tiny_tokens(model), tiny_tokens(model));
        const Field field = bench.run(request).fields.at(0);
        EXPECT_EQ(field.shape.at(0), model.layers);
        EXPECT_GT(field.shape.at(1), 1);
        const double limit = loss_error(bench);
        for (const float v : field.values) EXPECT_NEAR(v, 0, limit);
    }
}

// The stream after the last block decides alone: patched in a target's own group, its loss is that
// of the same token under the other input.
TEST(Patching, AfterTheLastBlockATargetsOwnRowDecides) {
    const ModelConfig model = tiny_model("aft-full", "image");
    Bench bench(model);
    const std::vector<uint8_t> a = tiny_tokens(model), b = turned(a, model);
    const int64_t t = model.tokens() - 2;
    ProbeRequest request;
    request.probe = "patching";
    request.tokens = both(a, b);
    request.options["position"] = std::to_string(t);
    const at::Tensor found = tensor_of(bench.run(request).fields.at(0))[model.layers - 1];
    const auto logs = [&](const std::vector<uint8_t>& tokens) {
        return at::log_softmax(
            bench.net.forward(probe::net_input(model, tokens), Pass{}).to(at::kDouble), -1)[0][t];
    };
    const int64_t target = a[size_t(t)];
    const double expected = (logs(a)[target] - logs(b)[target]).item<double>();
    const int64_t own = t / model.grid_width();
    for (int64_t group = 0; group < found.size(0); ++group)
        EXPECT_NEAR(found[group].item<double>(), group == own ? expected : 0, loss_error(bench))
            << group;
    EXPECT_GT(std::abs(expected), 1e-3);
}

TEST(Patching, OneInputIsRefused) {
    Bench bench(tiny_model("aft-full", "image"));
    ProbeRequest request;
    request.probe = "patching";
    request.tokens = {1, 2, 3};
    EXPECT_NE(words([&] { (void)bench.run(request); }).find("two inputs"), std::string::npos);
}

}  // namespace
}  // namespace aft
