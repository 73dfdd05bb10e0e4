// Other people's weights: what their own code computes is what the imported model computes, and
// nothing is guessed. Fixtures: tests/model/imports/make_fixtures.py.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "core/caught.h"
#include "core/files.h"
#include "model/checkpoints/checkpoint.h"
#include "model/checkpoints/format.h"
#include "model/jobs/export.h"
#include "model/jobs/import.h"
#include "model/jobs/inspect.h"
#include "model/jobs/run.h"
#include "model/jobs/train.h"
#include "model/train/warm_start.h"
#include "tests/model/scratch.h"
#include "tests/source_file.h"

namespace aft {
namespace {

using Settings = std::vector<std::pair<std::string, std::string>>;

std::string shipped(const std::string& name) {
    return source_file("tests/model/imports/" + name).string();
}

class Import : public ::testing::Test {
  protected:
    [[nodiscard]] std::string path(const std::string& name) const {
        return (folder_ / name).string();
    }
    // The importer's words for a failure; "" where it worked.
    [[nodiscard]] std::string failure(const ImportRequest& request) const {
        return error_words([&] { static_cast<void>(import_job(request)); });
    }
    // A state dict of one's own.
    std::string write(const std::string& name,
                      std::vector<std::pair<std::string, at::Tensor>> tensors) const {
        write_tensors(path(name), {.tensors = std::move(tensors), .metadata = {}});
        return path(name);
    }
    TemporaryFolder folder_;
};

struct Origin {
    std::string file, importer;
    Settings set = {};
};

TEST_F(Import, GivesTheOutputsOfItsOrigin) {
    for (const Origin& origin :
         {Origin{"rish16", "rish16"}, Origin{"rish16-simple", "rish16-simple"},
          Origin{"rish16-local", "rish16-local", {{"model.window", "3"}}},
          Origin{"rish16-local", "rish16"}, Origin{"labml-layer", "labml-layer"},
          Origin{"labml", "labml"}, Origin{"timm", "timm"},
          Origin{"timm-distilled", "timm-distilled"}, Origin{"hf-vit", "hf-vit"},
          Origin{"hf-vit-5", "hf-vit-5"}, Origin{"xmu", "xmu"}, Origin{"xmu-simple", "xmu-simple"},
          Origin{"pos-bias-uv", "pos-bias-uv"},
          Origin{"pos-bias-uv-local", "pos-bias-uv-local", {{"model.window", "3"}}}}) {
        SCOPED_TRACE(origin.file + " as " + origin.importer);
        const std::string io = shipped(origin.file + ".io.safetensors");
        const ImportResult result =
            import_job({.file = shipped(origin.file + ".pt"), .out = path("m"), .set = origin.set});
        EXPECT_EQ(result.importer, origin.importer);
        const bool is_whole = read_checkpoint(path("m")).config.model.task != "layer";
        const RunResult run = run_job({.model = path("m"),
                                       .in = io,
                                       .out = path("out"),
                                       .part = is_whole ? "" : "mixer",
                                       .layer = is_whole ? -1 : 0});
        const TensorFile out = read_tensors(path("out")), expected = read_tensors(io);
        const at::Tensor* y = out.find(run.tensor);
        const at::Tensor* right = expected.find("expected." + run.tensor);
        ASSERT_NE(right, nullptr);
        ASSERT_EQ(y->sizes(), right->sizes());
        const double scale = std::max(1.0, right->abs().max().item<double>());
        EXPECT_LT((*y - *right).abs().max().item<double>(), 1e-5 * scale);
        EXPECT_GT(right->abs().max().item<double>(), 0.1);
    }
}

TEST_F(Import, SaysWhatItTookAndWhatNot) {
    const ImportResult result =
        import_job({.file = shipped("timm.pt"), .out = path("m"), .dry_run = true});
    EXPECT_EQ(result.prefix, "model.");
    EXPECT_FALSE(fs::exists(path("m")));
    ASSERT_EQ(result.dropped.size(), 1u);
    EXPECT_EQ(result.dropped[0].name, "model_ema.*");
    EXPECT_TRUE(result.fresh.empty());
    const ImportResult labml = import_job({.file = shipped("labml.pt"), .out = path("l")});
    EXPECT_EQ(labml.prefix, "module.");
    const Config config = read_checkpoint(path("l")).config;
    EXPECT_EQ(config.model.activation, "relu");
    EXPECT_EQ(config.model.positions, "sinusoidal");
    EXPECT_FALSE(config.model.start_token);
    EXPECT_EQ(inspect_job(path("l")).parameters, labml.parameters);
}

TEST_F(Import, TurnsAVitIntoAftConv) {
    const ImportResult result = import_job({.file = shipped("timm.pt"),
                                            .out = path("m"),
                                            .as = "aft-conv",
                                            .set = {{"model.heads", "4"}, {"model.window", "3"}}});
    EXPECT_EQ(result.fresh.size(), 2u * 7);  // q, k: weight and bias; kernel, gamma, beta
    const Checkpoint made = read_checkpoint(path("m"));
    const TensorFile file = read_tensors(shipped("timm.pt"));
    for (const auto& [name, tensor] : made.weights)
        if (name == "blocks.1.mixer.v.weight") {
            EXPECT_TRUE(
                at::equal(tensor, file.find("model.blocks.1.attn.qkv.weight")->narrow(0, 128, 64)));
        }
    static_cast<void>(make_net(made));
}

TEST_F(Import, RefusesWithTheReasonAndWritesNothing) {
    const at::Tensor one = at::ones({4, 4});
    const std::vector<std::pair<std::string, std::vector<std::string>>> cases{
        {"rish16-old", {"to_q.weight", "to_out.weight"}},
        {"fast-transformers",
         {"inner_attention.u", "inner_attention.v", "query_projection.weight"}},
        {"rwkv", {"blocks.0.att.time_decay"}}};
    for (const auto& [name, keys] : cases) {
        std::vector<std::pair<std::string, at::Tensor>> tensors;
        for (const std::string& key : keys) tensors.emplace_back(key, one);
        const std::string words =
            failure({.file = write("in", std::move(tensors)), .out = path("m")});
        EXPECT_NE(words.find(name), std::string::npos) << words;
        EXPECT_NE(words.find("refused"), std::string::npos) << words;
        EXPECT_FALSE(fs::exists(path("m")));
    }
}

TEST_F(Import, NamesTheNearestOriginAndTheDifferences) {
    TensorFile file = read_tensors(shipped("rish16.pt"));
    auto more = file.tensors;
    more.emplace_back("extra.scale", at::ones({3}));
    std::string words = failure({.file = write("in", more), .out = path("m")});
    EXPECT_NE(words.find("rish16"), std::string::npos) << words;
    EXPECT_NE(words.find("'extra.scale' [3]"), std::string::npos) << words;
    auto fewer = file.tensors;
    std::erase_if(fewer, [](const auto& entry) { return entry.first == "to_v.weight"; });
    words = failure({.file = write("in", fewer), .out = path("m")});
    EXPECT_NE(words.find("not recognised; the nearest importer is rish16"), std::string::npos)
        << words;
    EXPECT_NE(words.find("'to_v.weight'"), std::string::npos) << words;
    auto bent = file.tensors;
    for (auto& [name, tensor] : bent)
        if (name == "wbias") tensor = at::ones({10, 9});
    words = failure({.file = write("in", bent), .out = path("m")});
    EXPECT_NE(words.find("[10, 9] from 'wbias', the settings need [10, 10]"), std::string::npos)
        << words;
    words = failure({.file = write("in", {{"alpha", at::ones({2})}}), .out = path("m")});
    EXPECT_NE(words.find("'alpha' [2]"), std::string::npos) << words;
    EXPECT_FALSE(fs::exists(path("m")));
}

TEST_F(Import, RefusesAMaskThatIsNoBandUnlessAskedFor) {
    TensorFile file = read_tensors(shipped("labml-layer.pt"));
    for (auto& [name, tensor] : file.tensors)
        if (name == "local_mask") tensor[7][2] = true;
    const std::string in = write("in", file.tensors);
    const std::string words = failure({.file = in, .out = path("m")});
    EXPECT_NE(words.find("is not the band |t - j| < 3"), std::string::npos) << words;
    static_cast<void>(import_job({.file = in, .out = path("m"), .as = "labml-mask"}));
    const Checkpoint made = read_checkpoint(path("m"));
    EXPECT_EQ(made.config.model.mixer, "aft-full");
    for (const auto& [name, tensor] : made.weights)
        if (name == "blocks.0.mixer.w") {
            EXPECT_EQ(tensor[7][3].item<float>(), 0);
            EXPECT_NE(tensor[7][2].item<float>(), 0);
        }
}

constexpr const char* kOwnMap = R"json({
  "sentence": "two mixers of one's own",
  "needs": ["enc.{i}.att.query"],
  "sizes": {"dim": "size(enc.0.att.query, 0)"
}
,
  "settings": {"model.task": "layer", "model.mixer": "aft-simple", "model.dim": "=dim",
               "model.layers": "=count(enc.{i}.att.query)", "model.height": 1, "model.width": 6,
               "model.output_projection": false},
  "tensors": [
    {"from": "enc.{i}.att.query", "to": "blocks.{i}.mixer.q.weight", "transpose": true},
    {"from": "enc.{i}.att.kv", "to": ["blocks.{i}.mixer.k.weight", "blocks.{i}.mixer.v.weight"]},
    {"from": "steps", "drop": "a counter"}
  ],
  "fill": {
    "blocks.{i}.mixer.{p}.bias" : 0
}
})json";

TEST_F(Import, TakesAMappingOfOnesOwn) {
    write_atomically(path("own.json"), std::string_view(kOwnMap));
    const at::Tensor q = at::randn({4, 4}), kv = at::randn({8, 4});
    const std::string in = write("in", {{"model.enc.0.att.query", q.to(at::kDouble)},
                                        {"model.enc.0.att.kv", kv.to(at::kHalf)},
                                        {"model.enc.1.att.query", q},
                                        {"model.enc.1.att.kv", kv},
                                        {"model.steps", at::ones({1}, at::kLong)}});
    const ImportResult result = import_job({.file = in, .out = path("m"), .map = path("own.json")});
    EXPECT_EQ(result.mapped.size(), 6u);
    EXPECT_EQ(result.dropped.size(), 1u);
    for (const auto& [name, tensor] : read_checkpoint(path("m")).weights) {
        if (name == "blocks.0.mixer.q.weight") {
            EXPECT_TRUE(at::equal(tensor, q.t()));
        }
        if (name == "blocks.0.mixer.v.weight") {
            EXPECT_TRUE(at::equal(tensor, kv.narrow(0, 4, 4).to(at::kHalf).to(at::kFloat)));
        }
        if (name == "blocks.1.mixer.k.bias") {
            EXPECT_TRUE(at::equal(tensor, at::zeros({4})));
        }
    }
}

TEST_F(Import, SaysWhatIsWrongInAMapping) {
    const std::string in = write("in", {{"a", at::ones({2, 2})}});
    const auto words_of = [&](const std::string& json) {
        write_atomically(path("own.json"), std::string_view(json));
        return failure({.file = in, .out = path("m"), .map = path("own.json")});
    };
    for (const auto& [json, expected] : std::initializer_list<std::pair<const char*, const char*>>{
             {R"({"tensors": []})", "one at least"},
             {R"({"tensor": [], "tensors": [{"from": "a", "to": "b"}]})", "unknown key 'tensor'"},
             {R"({"tensors": [{"from": "a"}]})", "either 'to'"},
             {R"({"tensors": [{"from": "a", "to": "{i}"}]})", "nothing says what {i}"},
             {R"({"tensors": [{"from": "a", "to": "b", "shape": ["5"]}]})", "cannot become [5]"},
             {R"({"tensors": [{"from": "a", "to": ["b", "c", "d"]}]})", "3 equal parts"},
             {R"({"sizes": {"x": "y", "y": "x"}, "settings": {"model.dim": "=x"},
                  "tensors": [{"from": "a", "to": "b"}]})",
              "need each other"},
             {R"({"settings": {"model.dim": "=size(a, 0) / 0"},
                  "tensors": [{"from": "a", "to": "b"}]})",
              "division by 0"},
             {R"({"settings": {"model.dmi": 3}, "tensors": [{"from": "a", "to": "b"}]})",
              "did you mean 'model.dim'"},
             {R"({"settings": {"model.layers": 512, "model.dim": 60000},
                  "tensors": [{"from": "a", "to": "b"}]})",
              "the file has"}}) {
        const std::string words = words_of(json);
        EXPECT_NE(words.find(expected), std::string::npos) << json << "\n" << words;
        EXPECT_FALSE(fs::exists(path("m")));
    }
}

TEST_F(Import, AMixerAloneSaysWhatItLacks) {
    static_cast<void>(import_job({.file = shipped("rish16.pt"), .out = path("m")}));
    const std::string io = shipped("rish16.io.safetensors");
    for (const char* part : {"", "block"}) {
        const std::string words = error_words([&] {
            static_cast<void>(run_job({.model = path("m"),
                                       .in = io,
                                       .out = path("out"),
                                       .part = part,
                                       .layer = *part == 0 ? -1 : 0}));
        });
        EXPECT_FALSE(words.empty());
        EXPECT_FALSE(fs::exists(path("out")));
    }
    EXPECT_EQ(inspect_job(path("m")).bias.size(), 1u);
}

// Out under the origin's names: the very tensors that came in, and a reason where there is no way.
TEST_F(Import, ExportGoesBack) {
    for (const Origin& origin :
         {Origin{"rish16", "rish16"}, Origin{"rish16-simple", "rish16-simple"},
          Origin{"rish16-local", "rish16-local", {{"model.window", "3"}}},
          Origin{"labml-layer", "labml-layer"}, Origin{"timm", "timm"}, Origin{"xmu", "xmu"},
          Origin{"xmu-simple", "xmu-simple"}, Origin{"pos-bias-uv", "pos-bias-uv"},
          Origin{"pos-bias-uv-local", "pos-bias-uv-local", {{"model.window", "3"}}}}) {
        SCOPED_TRACE(origin.file);
        const ImportResult in =
            import_job({.file = shipped(origin.file + ".pt"), .out = path("m"), .set = origin.set});
        static_cast<void>(export_names(path("m"), path("back"), origin.importer));
        const TensorFile first = read_tensors(shipped(origin.file + ".pt"));
        const TensorFile back = read_tensors(path("back"));
        size_t count = 0;
        for (const auto& [name, tensor] : first.tensors) {
            if (!name.starts_with(in.prefix)) continue;
            ++count;
            const at::Tensor* found = back.find(name.substr(in.prefix.size()));
            ASSERT_NE(found, nullptr) << name;
            EXPECT_TRUE(at::equal(*found, tensor)) << name;
        }
        EXPECT_EQ(back.tensors.size(), count);
    }
    static_cast<void>(import_job({.file = shipped("rish16.pt"), .out = path("m")}));
    const std::string words =
        error_words([&] { static_cast<void>(export_names(path("m"), path("no"), "timm")); });
    EXPECT_NE(words.find("a layer alone, of model.task=layer; timm is for model.task=classify"),
              std::string::npos)
        << words;
    EXPECT_FALSE(fs::exists(path("no")));
}

TEST_F(Import, ARunStartsFromAnyWeights) {
    Config config = load_preset("demo-shapes");
    config.model.mixer = "aft-conv2d";
    config.data.source = "shapes?size=16&levels=16&gray=0";
    config.model.dim = 64;
    config.model.layers = 2;
    config.model.own["patch"] = int64_t{8};
    config.model.own["window"] = int64_t{3};
    config.model.own["heads"] = int64_t{4};
    const WarmStart start = warm_start(fit_to_data(config).config, shipped("timm.pt"));
    const auto has_fresh = [&](const std::string& name) {
        return std::any_of(start.fresh.begin(), start.fresh.end(),
                           [&](const std::string& words) { return words.starts_with(name); });
    };
    EXPECT_TRUE(has_fresh("blocks.0.mixer.q.weight"));
    EXPECT_TRUE(has_fresh("blocks.1.mixer.kernel"));
    EXPECT_TRUE(has_fresh("head.weight"));  // other classes
    EXPECT_FALSE(has_fresh("blocks.0.mixer.v.weight"));
    EXPECT_FALSE(has_fresh("blocks.0.mixer.o.weight"));
    const TensorFile file = read_tensors(shipped("timm.pt"));
    for (const auto& [name, tensor] : start.checkpoint.weights)
        if (name == "blocks.1.mlp.fc1.weight") {
            EXPECT_TRUE(at::equal(tensor, *file.find("model.blocks.1.mlp.fc1.weight")));
        }
}

// Every table is sound, and is listed.
TEST_F(Import, KnownOriginsAreSentences) {
    const std::vector<RoomInfo> list = importer_list();
    EXPECT_GT(list.size(), 10u);
    for (const RoomInfo& origin : list) EXPECT_TRUE(origin.sentence.ends_with(".")) << origin.name;
}

}  // namespace
}  // namespace aft
