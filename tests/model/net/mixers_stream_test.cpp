// Streaming decode equals the parallel evaluation, whatever was cloned, selected or far out.
#include <gtest/gtest.h>

#include "model/mixers/settings.h"
#include "tests/model/net/double_net.h"

namespace aft {
namespace {

std::vector<NetCase> causal_cases() {
    std::vector<NetCase> cases;
    for (const NetCase& c : small_cases())
        if (c.config.causal()) cases.push_back(c);
    return cases;
}

// tokens [B]: the input of the position, that is the target before it
at::Tensor fed_at(const at::Tensor& targets, int64_t position) {
    if (position == 0) return at::full({targets.size(0)}, -1, targets.options());
    return targets.select(1, position - 1);
}

// Logits [B, T, levels] of positions [state.position, end), one token at a time.
at::Tensor stream_to(const Net& net, const at::Tensor& targets, int64_t end, NetState& state) {
    std::vector<at::Tensor> rows;
    while (state.position < end) rows.push_back(net.step(fed_at(targets, state.position), state));
    return at::stack(rows, 1);
}

// A way to stream wrongly: another config, other weights, or a spoilt state before every step.
struct Mistake {
    std::string name;
    bool (*concerns)(const ModelConfig&);
    void (*config)(ModelConfig&) = [](ModelConfig&) {};
    void (*weights)(Net&) = [](Net&) {};
    void (*state)(NetState&) = [](NetState&) {};
};

// Largest difference between streaming with the mistake and the parallel evaluation without it in
// float64, over the largest logit.
double stream_error(const ModelConfig& config, const Mistake& mistake) {
    const at::NoGradGuard no_gradients;
    ModelConfig streamed_config = config;
    mistake.config(streamed_config);
    Net net(config, 3, test_device()), streamed_net(streamed_config, 3, test_device());
    shake(net, 0.3, 5);
    copy_values(net.parameters(), streamed_net.parameters());
    mistake.weights(streamed_net);
    const at::Tensor targets = on_device(decided_input(net, 3, 7));
    const at::Tensor expected = exact_logits(net, targets);
    NetState state = streamed_net.start(3);
    std::vector<at::Tensor> rows;
    while (state.position < config.tokens()) {
        mistake.state(state);
        rows.push_back(streamed_net.step(fed_at(targets, state.position), state));
    }
    return difference(at::stack(rows, 1), expected) / std::max(1.0, largest(expected));
}

TEST(MixerStream, EqualsParallel) {
    const Mistake none{"", [](const ModelConfig&) { return true; }};
    for (const NetCase& c : causal_cases())
        EXPECT_LT(stream_error(c.config, none), kLogitError) << c.label;
}

void change(Net& net, const std::string& end, at::Tensor (*to)(const at::Tensor&)) {
    for (Parameter& p : net.parameters())
        if (p.name.ends_with(end)) p.value.copy_(to(p.value).clone());
}
void transpose_bias(Net& net) {
    change(net, "mixer.w", [](const at::Tensor& w) { return w.t(); });
    Parameters& all = net.parameters();
    for (size_t i = 0; i + 1 < all.size(); ++i) {
        if (!all[i].name.ends_with("mixer.u")) continue;
        const at::Tensor u = all[i].value.clone();
        all[i].value.copy_(all[i + 1].value);  // r comes right after u
        all[i + 1].value.copy_(u);
    }
}

std::vector<Mistake> mistakes() {
    const auto any = [](const ModelConfig&) { return true; };
    const auto narrow = [](const ModelConfig& c) {
        return c.mixer == "aft-local" && mixer_traits(c).window > 1 && mixer_traits(c).window < 10;
    };
    const auto table = [](const ModelConfig& c) {
        return c.mixer == "aft-full" || (c.mixer == "aft-local" && mixer_traits(c).window > 1);
    };
    // A kernel that is one-hot in the middle is its own mirror image.
    const auto kernel = [](const ModelConfig& c) {
        return mixer_traits(c).has_kernel() && c.own.read<KernelSettings>().kernel_gumbel_tau == 0;
    };
    return {{.name = "samples change places",
             .concerns = any,
             .state = [](NetState& s) { s.select(on_device(at::tensor({2, 0, 1}, at::kLong))); }},
            {.name = "window <= s",
             .concerns = narrow,
             .config = [](auto& c) { c.own["window"] = mixer_traits(c).window + 1; }},
            {.name = "window < s - 1",
             .concerns = narrow,
             .config = [](auto& c) { c.own["window"] = mixer_traits(c).window - 1; }},
            {.name = "older sources as in the other model",
             .concerns = narrow,
             .config =
                 [](auto& c) { c.own["outside"] = mixer_traits(c).outside_hidden ? "0" : "-inf"; }},
            {.name = "w transposed", .concerns = table, .weights = transpose_bias},
            {.name = "kernels mirrored", .concerns = kernel, .weights = [](Net& net) {
                 change(net, "mixer.kernel", [](const at::Tensor& k) { return k.flip(-1); });
             }}};
}

TEST(MixerStream, WrongStepsAreNoticed) {
    for (const Mistake& mistake : mistakes()) {
        int concerned = 0;
        for (const NetCase& c : causal_cases()) {
            if (!mistake.concerns(c.config)) continue;
            ++concerned;
            EXPECT_GT(stream_error(c.config, mistake), 1e-3) << mistake.name << ": " << c.label;
        }
        EXPECT_GT(concerned, 0) << mistake.name;
    }
}

TEST(MixerStream, ClonesAndSelectionsContinueAlone) {
    for (const NetCase& c : causal_cases()) {
        SCOPED_TRACE(c.label);
        const at::NoGradGuard no_gradients;
        Net net(c.config, 3, test_device());
        shake(net, 0.3, 5);
        const int64_t T = c.config.tokens(), middle = T / 2;
        const at::Tensor targets = on_device(decided_input(net, 3, 7));
        const at::Tensor expected = exact_logits(net, targets);
        const double tolerance = kLogitError * std::max(1.0, largest(expected));
        NetState state = net.start(3);
        static_cast<void>(stream_to(net, targets, middle, state));
        NetState kept = state.clone();

        // The original continues with other rows: the last, the first, the last again.
        const at::Tensor rows = at::tensor({2, 0, 2}, at::kLong);
        state.select(on_device(rows));
        const at::Tensor chosen =
            stream_to(net, targets.index_select(0, on_device(rows)), T, state);
        EXPECT_LT(difference(chosen, expected.index_select(0, rows).narrow(1, middle, T - middle)),
                  tolerance);

        // What was kept has not moved, and can be kept again with fewer rows.
        NetState one = kept.clone();
        one.select(on_device(at::tensor({1}, at::kLong)));
        const at::Tensor rest = expected.narrow(1, middle, T - middle);
        EXPECT_LT(difference(stream_to(net, targets, T, kept), rest), tolerance);
        EXPECT_LT(difference(stream_to(net, targets.narrow(0, 1, 1), T, one), rest.narrow(0, 1, 1)),
                  tolerance);
    }
}

TEST(MixerStream, BatchDoesNotMatter) {
    for (const NetCase& c : causal_cases()) {
        SCOPED_TRACE(c.label);
        const at::NoGradGuard no_gradients;
        Net net(c.config, 3, test_device());
        to_double(net);  // products of one row round differently in float32
        const at::Tensor targets = on_device(input_for(c.config, 4, 7));
        NetState all = net.start(4), last = net.start(1);
        const at::Tensor together = stream_to(net, targets, c.config.tokens(), all);
        const at::Tensor alone = stream_to(net, targets.narrow(0, 3, 1), c.config.tokens(), last);
        EXPECT_LT(difference(together.narrow(0, 3, 1), alone), 1e-10);
    }
}

void scale(Net& net, const std::string& end, double factor) {
    const at::NoGradGuard no_gradients;
    for (Parameter& p : net.parameters())
        if (p.name.ends_with(end)) p.value.mul_(factor);
}

// Biases of hundreds of nats and keys of hundreds: the quick scaling would lose everything.
TEST(MixerStream, FarOutValuesTakeTheExactWay) {
    for (const NetCase& c : causal_cases()) {
        SCOPED_TRACE(c.label);
        const at::NoGradGuard no_gradients;
        Net net(c.config, 3, test_device());
        shake(net, 0.3, 5);
        if (!mixer_traits(c.config).has_key_maps) continue;
        for (const char* name : {"mixer.u", "mixer.w", "mixer.gamma"}) scale(net, name, 300);
        if (c.config.own.read<KernelSettings>().naive_kernel) scale(net, "mixer.kernel", 300);
        scale(net, "mixer.k.weight", 200);
        const at::Tensor targets = on_device(input_for(c.config, 2, 7));
        Net exact(c.config, 3);
        copy_values(net.parameters(), exact.parameters());
        to_double(net);
        to_double(exact);
        const at::Tensor expected =
            exact.forward(targets.cpu(), {.backend = ops::OperatorBackend::reference});
        NetState state = net.start(2);
        const at::Tensor streamed = stream_to(net, targets, c.config.tokens(), state);
        EXPECT_TRUE(at::isfinite(streamed).all().item<bool>());
        EXPECT_LT(difference(streamed, expected), 1e-7 * std::max(1.0, largest(expected)));
    }
}

// One layer of known values: three tokens, one channel, worked by hand.
TEST(MixerStream, HandComputedWindow) {
    ModelConfig config = small_config("aft-local", "text");
    config.layers = config.dim = 1;
    config.own["window"] = 2;
    config.own["factors"] = 0;
    config.own["length"] = 3;
    config.own["query_gate"] = config.output_projection = false;
    const at::NoGradGuard no_gradients;
    Net net(config, 1, test_device());
    for (Parameter& p : net.parameters()) {
        if (p.name.ends_with("mixer.w"))
            p.value.copy_(at::tensor({0.0, 9.0, 9.0, 0.5, -1.0, 9.0, 7.0, 0.25, 2.0}).view({3, 3}));
        if (p.name.ends_with("k.weight")) p.value.fill_(1);
        if (p.name.ends_with("v.weight")) p.value.fill_(2);
    }
    const Mixer& mixer = net.mixer(0);
    const auto state = mixer.start(1);
    const std::vector<double> x{0.3, -0.7, 1.1};
    const auto e = [](double v) { return std::exp(v); };
    // w[2][0] = 7 is outside |t - j| < 2: source 0 counts with w = 0.
    const std::vector<double> expected{
        0.6, (e(0.3 + 0.5) * 0.6 + e(-0.7 - 1.0) * -1.4) / (e(0.3 + 0.5) + e(-0.7 - 1.0)),
        (e(0.3) * 0.6 + e(-0.7 + 0.25) * -1.4 + e(1.1 + 2.0) * 2.2) /
            (e(0.3) + e(-0.7 + 0.25) + e(1.1 + 2.0))};
    for (size_t t = 0; t < x.size(); ++t)
        EXPECT_NEAR(mixer.step(on_device(at::full({1, 1}, x[t])), *state).item<double>(),
                    expected[t], 1e-6);
}

}  // namespace
}  // namespace aft
