// Probes: the list is walked on a tiny net of every mixer; biases are compared with the definition
// written out densely.
#include <cmath>
#include <filesystem>
#include <set>

#include "tests/model/probe/probe_fixture.h"
#include "tests/source_file.h"

namespace aft {
namespace {

// A mixer's traits say in words what it lacks: a probe of that is refused with them.
bool is_refused_by_traits(const MixerTraits& traits, const std::string& probe,
                          const std::string& words) {
    for (const std::string& lack :
         {traits.no_bias, traits.no_gate, traits.no_keys, traits.no_attention})
        if (!lack.empty() && words.find(lack) != std::string::npos) return true;
    return (probe == "kernel" && !traits.has_kernel()) ||
           (probe == "window" && traits.window == 0) ||
           (probe == "rank" && traits.bias == BiasLayout::kernel_1d) ||
           (probe == "components" && traits.has_kernel()) || traits.bias == BiasLayout::attention;
}

// NaN says there: of a causal layer some symmetries are not defined; a window cuts nothing off.
bool may_be_undefined(const ProbeRoom& room) {
    return room.info.name == "symmetry" || room.info.name == "channels" ||
           room.info.name == "window";
}

TEST(Probes, EveryRoomRunsOnEveryMixerOrSaysWhyNot) {
    for (const ModelConfig& model : tiny_models(true, true)) {
        Bench bench(model);
        for (const ProbeRoom& room : probes()) {
            SCOPED_TRACE(model.mixer + " " + model.task + " " + room.info.name);
            ProbeRequest request;
            request.probe = room.info.name;
            request.layer = 1;
            if (room.needs == ProbeNeeds::input) request.tokens = tiny_tokens(model);
            const std::vector<uint8_t> one = request.tokens;
            if (room.takes_two) request.tokens.insert(request.tokens.end(), one.begin(), one.end());
            if (task_traits(model).has_classes) request.labels = {0};
            if (room.info.name == "bias") request.options["visible"] = "all";
            try {
                const FieldSet set = bench.run(request);
                ASSERT_FALSE(set.fields.empty());
                for (const Field& field : set.fields) {
                    EXPECT_EQ(field.size(), static_cast<int64_t>(field.values.size()));
                    EXPECT_EQ(field.axes.size(), field.shape.size());
                    EXPECT_EQ(field.step, 7);
                    for (const float v : field.values)
                        ASSERT_TRUE(std::isfinite(v) || may_be_undefined(room)) << field.name;
                }
            } catch (const Error& error) {
                EXPECT_EQ(error.kind(), ErrorKind::usage);
                const std::string text = error.what();
                EXPECT_TRUE(text.find(model.mixer) != std::string::npos ||
                            text.find("softmax") != std::string::npos)
                    << text;
                EXPECT_TRUE(is_refused_by_traits(mixer_traits(model), room.info.name, text))
                    << text
                    << ": says nothing of what the mixer's traits say it lacks (no_bias, ...)";
            }
        }
    }
}

TEST(Probes, RangesAndOptionsAreNamed) {
    Bench bench(tiny_model("aft-conv2d", "image"));
    ProbeRequest request;
    request.probe = "bias";
    request.layer = 2;
    EXPECT_NE(words([&] { (void)bench.run(request); }).find("layer 2"), std::string::npos);
    EXPECT_NE(words([&] { (void)bench.run(request); }).find("0 to 1"), std::string::npos);
    request.layer = 0;
    request.head = 2;
    EXPECT_NE(words([&] { (void)bench.run(request); }).find("head 2"), std::string::npos);
    request.head = -1;
    request.options = {{"quantity", "log"}};
    EXPECT_NE(words([&] { (void)bench.run(request); }).find("w, exp-1, exp, row-share"),
              std::string::npos);
    request.options = {{"colour", "red"}};
    EXPECT_NE(words([&] { (void)bench.run(request); }).find("colour"), std::string::npos);
    request.options = {{"blocks", "0"}};
    EXPECT_NE(words([&] { (void)bench.run(request); }).find("1 to 16"), std::string::npos);
    request = {};
    request.probe = "attention";
    EXPECT_NE(words([&] { (void)bench.run(request); }).find("--image"), std::string::npos);
    request.tokens = tiny_tokens(bench.model);
    request.position = 16;
    EXPECT_NE(words([&] { (void)bench.run(request); }).find("0 to 15"), std::string::npos);
    request.probe = "atention";
    EXPECT_NE(words([&] { (void)bench.run(request); }).find("bias, kernel, attention"),
              std::string::npos);
}

TEST(Probes, BiasIsTheEffectiveBiasInEveryQuantity) {
    for (const ModelConfig& model : tiny_models(true, true)) {
        SCOPED_TRACE(model.mixer + " " + model.task);
        Bench bench(model);
        if (!mixer_traits(model).has_bias() || !is_aft_layer(bench.net, 1)) continue;
        const at::Tensor w = dense(bench.net, 1);
        const at::Tensor visible = w[0] > -kInfinity;
        for (const std::string quantity : {"w", "exp", "exp-1", "row-share"}) {
            ProbeRequest request;
            request.probe = "bias";
            request.layer = 1;
            request.options = {{"quantity", quantity}, {"visible", "nan"}};
            const Field field = bench.run(request).fields.at(0);
            at::Tensor want = w;
            if (quantity == "exp") want = w.exp();
            if (quantity == "exp-1") want = w.expm1();
            if (quantity == "row-share") want = at::softmax(w, 2);
            const at::Tensor got = tensor_of(field).reshape(want.sizes());
            EXPECT_TRUE(at::equal(got[0].isnan(), ~visible));
            EXPECT_LT((got - want).masked_select(visible).abs().max().item<double>(), 1e-5);
            // One row is the same numbers.
            request.options["row"] = "9";
            const Field row = bench.run(request).fields.at(0);
            EXPECT_TRUE(at::allclose(tensor_of(row).reshape({-1, want.size(2)}), got.select(1, 9),
                                     1e-5, 1e-7, true));
        }
    }
}

// exp(w)-1 of such w is -1 in float32: w cannot be had back from it.
TEST(Probes, AlsoWIsTheStoredValueWhereItsExponentialIsRoundedAway) {
    for (const ModelConfig& model : tiny_models(true, false)) {
        if (!mixer_traits(model).has_bias()) continue;
        SCOPED_TRACE(model.mixer + " " + model.task);
        Bench bench(model);
        for (Parameter& parameter : bench.net.parameters())
            if (parameter.group == ParameterGroup::position_bias) parameter.value.mul_(8);
        ProbeRequest request;
        const bool has_kernel = mixer_traits(model).has_kernel();
        request.probe = has_kernel ? "kernel" : "bias";
        if (!has_kernel) request.options = {{"visible", "all"}};
        const Field plain = bench.run(request).fields.at(0);
        for (const std::string quantity : {"exp-1", "exp"}) {
            request.options["quantity"] = quantity;
            request.options["also"] = "w";
            const FieldSet both = bench.run(request);
            ASSERT_NE(both.find("w"), nullptr);
            EXPECT_EQ(both.find("w")->values, plain.values);
            EXPECT_EQ(both.find("w")->notes.at("quantity"), "w");
            EXPECT_NE(both.fields[0].values, plain.values);
        }
        if (model.mixer == "aft-full") {
            EXPECT_LT(*std::min_element(plain.values.begin(), plain.values.end()), -20);
            request.options["blocks"] = "4";
            EXPECT_NE(words([&] { (void)bench.run(request); }).find("also=w"), std::string::npos);
        }
    }
}

TEST(Probes, BiasWithoutMarksIsTheMixersOwn) {
    for (const std::string mixer : {"aft-full", "aft-local"}) {
        Bench bench(tiny_model(mixer, "image"));
        ProbeRequest request;
        request.probe = "bias";
        const at::Tensor plain = tensor_of(bench.run(request).fields.at(0));
        request.options = {{"visible", "all"}};
        const at::Tensor all = tensor_of(bench.run(request).fields.at(0));
        const at::Tensor want = bench.net.mixer(0).bias(16)->to(at::kDouble);
        EXPECT_TRUE(at::allclose(all, want, 1e-5, 1e-6)) << mixer;
        const at::Tensor hidden = at::ones({16, 16}, at::kBool).triu(1);
        EXPECT_TRUE(at::equal(plain.isnan(), hidden)) << mixer << ": NaN where nothing is seen";
        EXPECT_TRUE(at::equal(plain.masked_select(~hidden), all.masked_select(~hidden))) << mixer;
    }
}

TEST(Probes, GaugeIsFixedWhereARowIsFree) {
    for (const std::string mixer : {"aft-full", "aft-local"}) {
        Bench bench(tiny_model(mixer, "image"));
        ProbeRequest request;
        request.probe = "bias";
        request.options = {{"visible", "nan"}};
        const at::Tensor raw = tensor_of(bench.run(request).fields.at(0));
        request.options["gauge"] = "fixed";
        const at::Tensor fixed = tensor_of(bench.run(request).fields.at(0));
        for (int64_t t = 0; t < 16; ++t) {
            const at::Tensor past = fixed[t].slice(0, 0, t + 1);
            const double mean = (past.exp().mean()).log().item<double>();
            const bool free = mixer == "aft-full" || t < 5;
            if (free) {
                EXPECT_NEAR(mean, 0, 1e-5) << mixer << " row " << t;
            }
            // Differences inside a row never change.
            const at::Tensor shift = (fixed[t] - raw[t]).slice(0, 0, t + 1);
            EXPECT_NEAR((shift.max() - shift.min()).item<double>(), 0, 1e-5);
            if (!free) {
                EXPECT_NEAR(shift.abs().max().item<double>(), 0, 1e-7);
            }
        }
        // The row share does not depend on the gauge.
        request.options["quantity"] = "row-share";
        const at::Tensor share = tensor_of(bench.run(request).fields.at(0));
        request.options["gauge"] = "raw";
        EXPECT_TRUE(at::allclose(share, tensor_of(bench.run(request).fields.at(0)), 1e-5, 1e-7,
                                 /*equal_nan=*/true));
    }
}

TEST(Probes, BlocksEqualBruteForce) {
    for (const std::string mixer : {"aft-full", "aft-local", "aft-conv2d"}) {
        for (const int64_t n : {1, 3, 4, 16}) {
            SCOPED_TRACE(mixer + " blocks of " + std::to_string(n));
            Bench bench(tiny_model(mixer, "image"));
            ProbeRequest request;
            request.probe = "bias";
            request.options = {{"visible", "nan"}, {"quantity", "exp-1"}};
            const at::Tensor whole =
                tensor_of(bench.run(request).fields.at(0)).reshape({-1, 16, 16});
            request.options["blocks"] = std::to_string(n);
            const FieldSet set = bench.run(request);
            const int64_t blocks = (16 + n - 1) / n;
            for (const char* name : {"mean", "min", "max", "norm"})
                ASSERT_NE(set.find(name), nullptr) << name;
            const auto at_block = [&](const char* name, int64_t h, int64_t i, int64_t j) {
                return tensor_of(*set.find(name))
                    .reshape({-1, blocks, blocks})[h][i][j]
                    .item<double>();
            };
            for (int64_t h = 0; h < whole.size(0); ++h)
                for (int64_t i = 0; i < blocks; ++i)
                    for (int64_t j = 0; j < blocks; ++j) {
                        const at::Tensor cells =
                            whole[h].slice(0, i * n, i * n + n).slice(1, j * n, j * n + n);
                        const at::Tensor seen = cells.masked_select(~cells.isnan());
                        if (seen.numel() == 0) {
                            EXPECT_TRUE(std::isnan(at_block("mean", h, i, j)));
                            continue;
                        }
                        EXPECT_NEAR(at_block("mean", h, i, j), seen.mean().item<double>(), 1e-5);
                        EXPECT_NEAR(at_block("min", h, i, j), seen.min().item<double>(), 1e-6);
                        EXPECT_NEAR(at_block("max", h, i, j), seen.max().item<double>(), 1e-6);
                        EXPECT_NEAR(at_block("norm", h, i, j), seen.norm().item<double>(), 1e-5);
                    }
        }
    }
}

TEST(Probes, BandIsTheSameNumbersByOffset) {
    for (const std::string task : {"image", "classify"}) {
        Bench bench(tiny_model("aft-local", task));
        ProbeRequest request;
        request.probe = "bias";
        const at::Tensor whole = tensor_of(bench.run(request).fields.at(0));
        request.options = {{"view", "band"}};
        const Field band = bench.run(request).fields.at(0);
        const int64_t first = std::stoll(band.notes.at("first_offset"));
        ASSERT_EQ(band.shape, (std::vector<int64_t>{16, task == "image" ? 5 : 9}));
        EXPECT_EQ(first, task == "image" ? 0 : -4);
        for (int64_t t = 0; t < 16; ++t)
            for (int64_t o = 0; o < band.shape[1]; ++o) {
                const int64_t j = t - (o + first);
                const float got = band.values[static_cast<size_t>(t * band.shape[1] + o)];
                if (j < 0 || j >= 16) {
                    EXPECT_TRUE(std::isnan(got));
                } else {
                    EXPECT_NEAR(got, whole[t][j].item<double>(), 1e-6);
                }
            }
    }
    Bench full(tiny_model("aft-full", "image"));
    ProbeRequest request;
    request.probe = "bias";
    request.options = {{"view", "band"}};
    EXPECT_NE(words([&] { (void)full.run(request); }).find("aft-local"), std::string::npos);
}

TEST(Probes, ExtremeBiasesStayFinite) {
    for (const std::string mixer : {"aft-full", "aft-local"}) {
        ModelConfig model = tiny_model(mixer, "image");
        model.own["factors"] = 0;
        Bench bench(model);
        for (Parameter& parameter : bench.net.parameters())
            if (parameter.group == ParameterGroup::position_bias) parameter.value.mul_(800);
        for (const std::string probe : {"bias", "attention"}) {
            ProbeRequest request;
            request.probe = probe;
            request.position = 12;
            if (probe == "attention") request.tokens = tiny_tokens(model);
            if (probe == "bias")
                request.options = {
                    {"quantity", "row-share"}, {"gauge", "fixed"}, {"visible", "all"}};
            const FieldSet set = bench.run(request);
            for (const Field& field : set.fields)
                for (const float v : field.values) ASSERT_TRUE(std::isfinite(v)) << field.name;
        }
    }
}

TEST(Probes, EveryRoomFileIsListed) {
    std::set<std::string> names;
    for (const ProbeRoom& room : probes()) {
        EXPECT_FALSE(room.info.sentence.empty());
        EXPECT_TRUE(names.insert(room.info.name).second);
        std::string file = "model/probe/" + room.info.name + ".cpp";
        std::replace(file.begin(), file.end(), '-', '_');
        EXPECT_TRUE(std::filesystem::exists(source_file(file)))
            << "probe " << room.info.name << ": looked for " << file;
    }
}

}  // namespace
}  // namespace aft
