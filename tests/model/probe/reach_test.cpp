// Reach and rank of position biases, against their definitions cell by cell and LibTorch's own
// singular values of the dense bias.
#include <algorithm>
#include <cmath>

#include "model/probe/reach_sums.h"
#include "tests/model/probe/probe_fixture.h"

namespace aft {
namespace {

struct GridPlace {
    int64_t y = 0, x = 0;
};

// The numbers of one head of a dense bias [T, T] with hidden sources at -inf.
std::vector<double> reach_of(const at::Tensor& w, const ModelConfig& model, bool is_shifted) {
    const int64_t T = w.size(0);
    const bool is_text = task_traits(model).is_text();
    const int64_t width = is_text ? T : model.grid_width();
    const auto place = [&](int64_t i) { return GridPlace{i / width, i % width}; };
    std::vector<double> by_distance(size_t(T) + 1, 0), parts(5, 0);
    for (int64_t t = 0; t < T; ++t) {
        const at::Tensor share = w[t].softmax(0);
        for (int64_t j = 0; j < T; ++j) {
            const double p = share[j].item<double>();
            const int64_t carried = is_shifted ? j - 1 : j;
            if (carried < 0) {
                parts[4] += p;
                continue;
            }
            const GridPlace a = place(t), b = place(carried);
            by_distance[size_t(std::max(std::abs(a.y - b.y), std::abs(a.x - b.x)))] += p;
            parts[0] += b.x < a.x ? p : 0;
            parts[1] += b.x > a.x ? p : 0;
            parts[2] += b.y < a.y ? p : 0;
            parts[3] += b.y > a.y ? p : 0;
        }
    }
    double all = 0, sum = 0, mean = 0, half = -1, most = -1;
    for (const double p : by_distance) all += p;
    for (size_t d = 0; d < by_distance.size(); ++d) {
        sum += by_distance[d];
        mean += by_distance[d] * double(d) / all;
        if (half < 0 && sum >= 0.5 * all) half = double(d);
        if (most < 0 && sum >= 0.9 * all) most = double(d);
    }
    std::vector<double> out = {half, most, mean};
    for (const double p : parts) out.push_back(p / double(T));
    return out;
}

std::vector<double> numbers_of(const at::Tensor& row) {
    const at::Tensor all = row.contiguous();
    return {all.const_data_ptr<double>(), all.const_data_ptr<double>() + all.numel()};
}

TEST(Reach, IsTheDefinitionForEveryLayout) {
    const std::pair<const char*, const char*> models[] = {{"aft-full", "image"},
                                                          {"aft-local", "text"},
                                                          {"aft-full", "classify"},
                                                          {"aft-conv1d", "text"},
                                                          {"aft-conv2d", "classify"}};
    for (const auto& [mixer, task] : models) {
        SCOPED_TRACE(std::string(mixer) + " " + task);
        ModelConfig model = tiny_model(mixer, task);
        model.own["class_token"] = false;
        Bench bench(model);
        ProbeRequest request;
        request.probe = "reach";
        request.layer = 1;
        const at::Tensor found = tensor_of(bench.run(request).fields.at(0));
        const at::Tensor w = dense(bench.net, 1);
        ASSERT_EQ(found.size(0), w.size(0));
        for (int64_t head = 0; head < w.size(0); ++head) {
            const std::vector<double> expected = reach_of(w[head], model, model.causal());
            for (size_t i = 0; i < expected.size(); ++i)
                EXPECT_NEAR(found[head][int64_t(i)].item<double>(), expected[i], 1e-5) << i;
        }
    }
}

// Norm (gauge fixed: rows without their log-mean-exp, where no visible source is outside the
// window), entropy over log n, largest share.
TEST(Formation, IsTheDefinitionLayerByLayer) {
    for (const auto& [mixer, task] :
         {std::pair{"aft-full", "image"}, std::pair{"aft-conv2d", "classify"},
          std::pair{"aft-local", "text"}}) {
        SCOPED_TRACE(std::string(mixer) + " " + task);
        ModelConfig model = tiny_model(mixer, task);
        model.own["class_token"] = false;
        Bench bench(model);
        const MixerTraits traits = mixer_traits(model);
        const int64_t inside = traits.bias == BiasLayout::band ? traits.window : model.tokens();
        ProbeRequest request;
        request.probe = "formation";
        const FieldSet fields = bench.run(request);
        const at::Tensor found = tensor_of(fields.fields.at(0));
        int64_t row = 0;
        for (int64_t layer = 0; layer < model.layers; ++layer) {
            const at::Tensor w = dense(bench.net, layer);
            for (int64_t head = 0; head < w.size(0); ++head, ++row) {
                double squares = 0, cells = 0, entropy = 0, largest = 0;
                for (int64_t t = 0; t < w.size(1); ++t) {
                    const at::Tensor all = w[head][t], seen = all.index({all.isfinite()});
                    const at::Tensor share = seen.softmax(0);
                    const auto n = static_cast<double>(seen.numel());
                    const bool is_free = traits.free_rows && seen.numel() <= inside;
                    const double middle =
                        is_free ? seen.logsumexp(0).item<double>() - std::log(n) : 0;
                    squares += (seen - middle).square().sum().item<double>();
                    cells += n;
                    entropy +=
                        -(share * share.log()).sum().item<double>() / std::log(std::max(2.0, n));
                    largest += share.max().item<double>();
                }
                const auto T = static_cast<double>(w.size(1));
                const double expected[] = {std::sqrt(squares / cells), entropy / T, largest / T};
                for (int64_t i = 0; i < 3; ++i)
                    EXPECT_NEAR(found[row][i].item<double>(), expected[i], 1e-5)
                        << layer << " " << head << " " << i;
            }
        }
        EXPECT_EQ(found.size(0), row);
    }
}

// All components together are w; their shares of the energy are those of the singular values.
TEST(Components, MakeUpTheDenseBias) {
    for (const int64_t factors : {3, 0}) {
        ModelConfig model = tiny_model("aft-full", "classify");
        model.own["factors"] = factors;
        Bench bench(model);
        ProbeRequest request;
        request.probe = "components";
        request.options["components"] = "64";
        const FieldSet set = bench.run(request);
        const at::Tensor targets = tensor_of(set.fields.at(0)),
                         sources = tensor_of(set.fields.at(1));
        const at::Tensor w = bench.net.mixer(0).bias(model.tokens())->to(at::kDouble);
        const at::Tensor made = targets.to(at::kDouble).t().matmul(sources.to(at::kDouble));
        EXPECT_LT((made - w.view_as(made)).abs().max().item<double>(), 1e-4) << factors;
        const at::Tensor energy = tensor_of(set.fields.at(3));
        EXPECT_NEAR(energy.sum().item<double>(), 1, 1e-5);
        EXPECT_GE(energy[0].item<double>(), energy[1].item<double>());
        request.options["components"] = "2";
        EXPECT_EQ(bench.run(request).fields.at(0).shape.at(0), 2);
    }
}

TEST(Rank, IsThatOfTheDenseBias) {
    for (const int64_t factors : {3, 0}) {
        ModelConfig model = tiny_model("aft-full", "classify");
        model.own["factors"] = factors;
        Bench bench(model);
        ProbeRequest request;
        request.probe = "rank";
        const FieldSet set = bench.run(request);
        const at::Tensor values = tensor_of(set.fields.at(0))[0];
        const at::Tensor w = bench.net.mixer(0).bias(model.tokens())->to(at::kDouble);
        const at::Tensor all = at::linalg_svdvals(w);
        for (int64_t i = 0; i < values.size(0); ++i)
            EXPECT_NEAR(values[i].item<double>(), all[i].item<double>(), 1e-4);
        const double total = all.square().sum().item<double>();
        const std::vector<double> parts = {0.5, 0.9, 0.99};
        for (size_t k = 0; k < parts.size(); ++k) {
            int64_t rank = 0;
            double sum = 0;
            while (sum < parts[k] * total - 1e-9 && rank < all.size(0))
                sum += std::pow(all[rank++].item<double>(), 2);
            EXPECT_EQ(set.fields.at(1).values.at(k), float(rank)) << parts[k];
        }
        EXPECT_EQ(values.size(0), factors > 0 ? factors : model.tokens());
    }
}

TEST(Reach, MapsAloneStandOnTheGridOfTheirLayer) {
    ModelConfig model;
    model.task = "maps";
    model.mixer = "maps";
    model.maps.layers = {{.height = 4, .width = 4},
                         {.height = 1, .width = 16},
                         {.height = 2, .width = 2, .channels = 3}};
    model.layers = 3;
    const auto looks = [&](int64_t layer, int64_t tokens, int64_t target, int64_t source) {
        const at::Tensor share = at::zeros({1, 1, tokens}, at::kDouble);
        share[0][0][source] = 1;
        probe::ReachSums sums(1, probe::places_of(model, tokens, layer));
        sums.add(share, target);
        return numbers_of(sums.numbers()[0]);
    };
    // within 50 %, within 90 %, distance, left, right, above, below, start
    EXPECT_EQ(looks(0, 16, 10, 3), (std::vector<double>{2, 2, 2, 0, 1, 1, 0, 0}));  // (2,2) (0,3)
    EXPECT_EQ(looks(1, 16, 10, 3), (std::vector<double>{7, 7, 7, 1, 0, 0, 0, 0}));
    EXPECT_EQ(looks(2, 12, 11, 0), (std::vector<double>{1, 1, 1, 1, 0, 1, 0, 0}));   // (1,1) (0,0)
    EXPECT_EQ(looks(2, 12, 11, 10), (std::vector<double>{0, 0, 0, 0, 0, 0, 0, 0}));  // one pixel
}

TEST(Rank, AKernelOverASequenceHasNone) {
    Bench bench(tiny_model("aft-conv1d", "text"));
    ProbeRequest request;
    request.probe = "rank";
    EXPECT_NE(words([&] { (void)bench.run(request); }).find("has no rank"), std::string::npos);
}

}  // namespace
}  // namespace aft
