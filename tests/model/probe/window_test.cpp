// What is learned inside a window, against its definition cell by cell.
#include <algorithm>
#include <cmath>

#include "tests/model/probe/probe_fixture.h"

namespace aft {
namespace {

// How far source j is from target t as the window counts; -1: outside it.
using WindowDistance = std::function<int64_t(int64_t t, int64_t j)>;

WindowDistance distance_in(const ModelConfig& model, int64_t window) {
    const int64_t half = window / 2, width = model.grid_width();
    if (model.mixer == "aft-local")
        return
            [=](int64_t t, int64_t j) { return std::abs(t - j) < window ? std::abs(t - j) : -1; };
    if (model.mixer == "aft-conv1d")
        return [=](int64_t t, int64_t j) { return t - j < window ? t - j : -1; };
    return [=](int64_t t, int64_t j) {
        const int64_t most =
            std::max(std::abs(t / width - j / width), std::abs(t % width - j % width));
        return most <= half ? most : -1;
    };
}

// "within 50 %" to "largest" of one head, from w [T, T] with hidden sources at -inf; what is hidden
// by the window alone has `is_hidden`.
std::vector<double> window_of(const at::Tensor& w, const ModelConfig& model,
                              const WindowDistance& distance, bool is_hidden) {
    const int64_t T = w.size(0);
    std::vector<double> weight(size_t(T), 0), cells(size_t(T), 0);
    double inside = 0, targets = 0;
    for (int64_t t = 0; t < T; ++t) {
        const int64_t end = model.causal() ? t + 1 : T;
        bool is_cut = false;
        double sum = 0;
        for (int64_t j = 0; j < end; ++j) {
            is_cut |= distance(t, j) < 0;
            sum += std::exp(w[t][j].item<double>());
        }
        if (!is_cut) continue;
        targets += 1;
        for (int64_t j = 0; j < end; ++j) {
            const int64_t d = distance(t, j);
            if (d < 0) continue;
            const double e = std::exp(w[t][j].item<double>());
            weight[size_t(d)] += std::abs(e - (is_hidden ? 0 : 1)) / sum;
            cells[size_t(d)] += 1;
            inside += e / sum;
        }
    }
    double all = 0, of_cells = 0, largest = 0;
    for (size_t d = 0; d < weight.size(); ++d) {
        all += weight[d];
        of_cells += cells[d];
        if (cells[d] > 0) largest = double(d);
    }
    double sum = 0, half = -1, most = -1, edge = 0, even = 0;
    for (size_t d = 0; d < weight.size(); ++d) {
        sum += weight[d];
        if (half < 0 && sum >= 0.5 * all) half = double(d);
        if (most < 0 && sum >= 0.9 * all) most = double(d);
        const bool is_edge = double(d) > 0.9 * largest + 1e-9 || double(d) == largest;
        edge += is_edge ? weight[d] / all : 0;
        even += is_edge ? cells[d] / of_cells : 0;
    }
    return {half, most, edge, even, inside / targets, largest};
}

at::Tensor ask_window(Bench& bench) {
    ProbeRequest request;
    request.probe = "window";
    request.layer = 1;
    return tensor_of(bench.run(request).fields.at(0));
}

TEST(Window, IsTheDefinitionForEveryLayout) {
    const std::pair<const char*, const char*> models[] = {
        {"aft-local", "text"},  {"aft-local", "image"},  {"aft-local", "classify"},
        {"aft-conv1d", "text"}, {"aft-conv2d", "image"}, {"aft-conv2d", "classify"}};
    for (const std::string outside : {"0", "-inf"})
        for (const auto& [mixer, task] : models) {
            SCOPED_TRACE(std::string(mixer) + " " + task + " " + outside);
            ModelConfig model = tiny_model(mixer, task);
            model.own["class_token"] = false;
            model.own["outside"] = outside;
            Bench bench(model);
            const at::Tensor found = ask_window(bench), w = dense(bench.net, 1);
            const WindowDistance distance = distance_in(model, mixer_traits(model).window);
            ASSERT_EQ(found.size(0), w.size(0));
            for (int64_t head = 0; head < w.size(0); ++head) {
                const std::vector<double> expected =
                    window_of(w[head], model, distance, outside != "0");
                for (size_t i = 0; i < expected.size(); ++i)
                    EXPECT_NEAR(found[head][int64_t(i)].item<double>(), expected[i], 1e-5) << i;
                EXPECT_LE(found[head][1].item<double>(), found[head][5].item<double>());
            }
        }
}

// The weight lies where it was put: all of it at one distance.
TEST(Window, SaysWhereTheWeightLies) {
    for (const int64_t at_distance : {0, 2, 4}) {
        ModelConfig model = tiny_model("aft-local", "text");  // window 5
        model.own["factors"] = 0;
        Bench bench(model);
        for (Parameter& parameter : bench.net.parameters())
            if (parameter.group == ParameterGroup::position_bias) {
                at::Tensor w = parameter.value;
                const at::Tensor i = at::arange(w.size(-1));
                w.copy_(2.0 * (i.unsqueeze(1) - i.unsqueeze(0) == at_distance).expand_as(w));
            }
        const at::Tensor found = ask_window(bench)[0];
        EXPECT_EQ(found[0].item<double>(), double(at_distance));
        EXPECT_EQ(found[1].item<double>(), double(at_distance));
        EXPECT_NEAR(found[2].item<double>(), at_distance == 4 ? 1 : 0, 1e-6);
        EXPECT_EQ(found[5].item<double>(), 4);
    }
}

TEST(Window, LargeBiasesAndAWindowOfEverything) {
    ModelConfig model = tiny_model("aft-local", "text");
    model.own["factors"] = 0;
    for (const double size : {800.0, 1e-9}) {
        Bench bench(model);
        for (Parameter& parameter : bench.net.parameters())
            if (parameter.group == ParameterGroup::position_bias) parameter.value.fill_(size);
        const at::Tensor found = ask_window(bench)[0];
        EXPECT_TRUE(found.isfinite().all().item<bool>()) << found;
        EXPECT_NEAR(found[2].item<double>(), found[3].item<double>(), 1e-6) << "even";
    }
    model.own["window"] = model.tokens();
    Bench wide(model);
    EXPECT_TRUE(ask_window(wide).isnan().all().item<bool>());
    Bench full(tiny_model("aft-full", "text"));
    EXPECT_NE(words([&] { (void)ask_window(full); }).find("has no window"), std::string::npos);
}

}  // namespace
}  // namespace aft
