// Relative attention against its definition, pair by pair, from the rows of the attention probe.
#include <cmath>

#include "tests/model/probe/probe_fixture.h"

namespace aft {
namespace {

ProbeRequest request_for(const ModelConfig& model, int64_t layer) {
    ProbeRequest request;
    request.layer = layer;
    request.tokens = tiny_tokens(model);
    return request;
}

// Shares of all targets, [rows, T, T].
at::Tensor all_rows(Bench& bench, int64_t layer) {
    ProbeRequest request = request_for(bench.model, layer);
    request.probe = "attention";
    std::vector<at::Tensor> rows;
    for (request.position = 0; request.position < bench.model.tokens(); ++request.position)
        rows.push_back(tensor_of(bench.run(request).fields.front()));
    return at::stack(rows, 1);
}

struct Pair {
    int64_t target = 0, source = 0, dy = 0, dx = 0;
};

// Every pair of places of the grid whose source is visible.
std::vector<Pair> pairs_of(const ModelConfig& model) {
    const int64_t H = model.grid_height(), W = model.grid_width();
    const int64_t extra = model.prefix_tokens();
    std::vector<Pair> out;
    for (int64_t a = 0; a < H * W; ++a)
        for (int64_t b = 0; b < H * W; ++b) {
            const Pair pair{a + extra, b + (model.causal() ? 1 : extra), b / W - a / W,
                            b % W - a % W};
            if (model.causal() && pair.source > pair.target) continue;
            out.push_back(pair);
        }
    return out;
}

TEST(RelativeAttention, IsTheMeanOverPairsOfEachOffset) {
    for (const ModelConfig& model : tiny_models(true, true)) {
        const MixerTraits traits = mixer_traits(model);
        if (!traits.has_attention || traits.outside_hidden) continue;
        SCOPED_TRACE(model.mixer + " " + model.task);
        Bench bench(model);
        at::Tensor rows = all_rows(bench, 1);
        if (rows.size(0) > traits.heads)
            rows = rows.view({traits.heads, rows.size(0) / traits.heads, rows.size(1), -1}).mean(1);
        const int64_t H = model.grid_height(), W = model.grid_width();
        at::Tensor sum = at::zeros({rows.size(0), 2 * H - 1, 2 * W - 1}, at::kDouble);
        at::Tensor count = at::zeros({2 * H - 1, 2 * W - 1}, at::kDouble);
        for (const Pair& pair : pairs_of(model)) {
            const int64_t y = pair.dy + H - 1, x = pair.dx + W - 1;
            sum.select(1, y).select(1, x).add_(rows.select(1, pair.target).select(1, pair.source));
            count[y][x] += 1;
        }
        ProbeRequest request = request_for(model, 1);
        request.probe = "relative-attention";
        request.options = {{"visible", "nan"}};
        const at::Tensor got = tensor_of(bench.run(request).fields.front());
        ASSERT_EQ(got.sizes(), sum.sizes());
        const at::Tensor wanted = at::where(count > 0, sum / count, std::nan(""));
        EXPECT_TRUE(at::allclose(got, wanted, 1e-5, 1e-7, true)) << got << wanted;
        EXPECT_EQ(at::isnan(got).any().item<bool>(), model.causal());
    }
}

TEST(RelativeAttention, ReducesChannelsAsItSays) {
    Bench bench(tiny_model("aft-full", "classify"));
    ProbeRequest request = request_for(bench.model, 0);
    request.probe = "relative-attention";
    request.options = {{"reduce", "channel"}};
    const at::Tensor channels = tensor_of(bench.run(request).fields.front());
    EXPECT_EQ(channels.size(0), bench.model.dim);
    for (const char* how : {"mean", "head"}) {
        request.options = {{"reduce", how}};
        const at::Tensor mean = tensor_of(bench.run(request).fields.front());
        EXPECT_TRUE(at::allclose(mean, channels.mean(0, true), 1e-5, 1e-7)) << how;
    }
    request.options = {{"reduce", "gate"}};
    const at::Tensor gate = tensor_of(bench.run(request).fields.front());
    EXPECT_EQ(gate.size(0), 1);
    EXPECT_FALSE(at::allclose(gate, channels.mean(0, true), 1e-3, 1e-5));
    request.options = {{"reduce", "channel"}};
    request.channel = 2;
    const at::Tensor one = tensor_of(bench.run(request).fields.front());
    EXPECT_TRUE(at::allclose(one, channels.slice(0, 2, 3), 1e-5, 1e-7));
}

TEST(RelativeAttention, FewerTargetsAreASampleOfThem) {
    Bench bench(tiny_model("softmax", "classify"));
    ProbeRequest request = request_for(bench.model, 0);
    request.probe = "relative-attention";
    const at::Tensor all = tensor_of(bench.run(request).fields.front());
    const int64_t cells = bench.model.grid_height() * bench.model.grid_width();
    request.options = {{"targets", std::to_string(cells)}};
    EXPECT_TRUE(at::equal(all, tensor_of(bench.run(request).fields.front())));
    request.options = {{"targets", "1"}, {"visible", "nan"}};
    const at::Tensor one = tensor_of(bench.run(request).fields.front());
    EXPECT_EQ((~at::isnan(one[0])).sum().item<int64_t>(), cells);
    request.options = {{"targets", std::to_string(cells + 1)}};
    EXPECT_NE(words([&] { (void)bench.run(request); }).find(fmt::format("1 to {}", cells)),
              std::string::npos);
}

}  // namespace
}  // namespace aft
