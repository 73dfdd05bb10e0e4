// Models by a mapping of one's own that go back by it, and what an imported model says of a run
// that continues it.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "core/caught.h"
#include "core/files.h"
#include "model/checkpoints/checkpoint.h"
#include "model/checkpoints/format.h"
#include "model/jobs/export.h"
#include "model/jobs/import.h"
#include "model/jobs/train.h"
#include "tests/model/scratch.h"
#include "tests/source_file.h"

namespace aft {
namespace {

class OwnImport : public ::testing::Test {
  protected:
    [[nodiscard]] std::string path(const std::string& name) const {
        return (folder_ / name).string();
    }
    TemporaryFolder folder_;
};

// A bias [1, source, target] that all layers share, and a file of torch.compile; out again by the
// same mapping where the layers still share it.
constexpr const char* kSharedMap = R"json({
  "sentence": "two mixers of one bias",
  "needs": ["shared"],
  "sizes": {"dim": "size(enc.0.query, 0)", "T": "size(shared, 2)"},
  "settings": {"model.task": "layer", "model.mixer": "aft-full", "model.factors": 0,
               "model.dim": "=dim", "model.layers": "=count(enc.{i}.query)", "model.height": 1,
               "model.width": "=T", "model.output_projection": false},
  "tensors": [
    {"from": "shared", "to": "blocks.{i}.mixer.w", "copy": true, "transpose": true,
     "shape": ["T", "T"], "back": ["1", "T", "T"]},
    {"from": "enc.{i}.query",
     "to": ["blocks.{i}.mixer.q.weight", "blocks.{i}.mixer.k.weight", "blocks.{i}.mixer.v.weight"],
     "copy": true}
  ],
  "fill": {"blocks.{i}.mixer.{p}.bias": 0}
})json";

TEST_F(OwnImport, OneTensorForSeveralPlaces) {
    write_atomically(path("shared.json"), std::string_view(kSharedMap));
    const at::Tensor w = at::randn({1, 6, 6}), q = at::randn({2, 4, 4});
    write_tensors(path("in"), {.tensors = {{"_orig_mod.shared", w},
                                           {"_orig_mod.enc.0.query", q[0].contiguous()},
                                           {"_orig_mod.enc.1.query", q[1].contiguous()}},
                               .metadata = {}});
    static_cast<void>(
        import_job({.file = path("in"), .out = path("m"), .map = path("shared.json")}));
    Checkpoint model = read_checkpoint(path("m"));
    for (const char* const norm : {"bias_norm.layer.0", "bias_norm.layer.1"})
        EXPECT_NEAR(model.metrics.value(norm, 0.0), w.norm().item<double>(), 1e-5) << norm;
    for (const auto& [name, tensor] : model.weights) {
        if (name.ends_with("mixer.w")) {
            EXPECT_TRUE(at::equal(tensor, w[0].t())) << name;
        }
        if (name == "blocks.1.mixer.v.weight") {
            EXPECT_TRUE(at::equal(tensor, q[1]));
        }
    }
    const auto words = [&] {
        return error_words([&] {
            static_cast<void>(export_mapped(path("m"), path("back"), path("shared.json")));
        });
    };
    EXPECT_EQ(words(), "");
    const TensorFile back = read_tensors(path("back"));
    ASSERT_EQ(back.tensors.size(), 3u);
    EXPECT_TRUE(at::equal(*back.find("shared"), w));
    EXPECT_TRUE(at::equal(*back.find("enc.1.query"), q[1]));
    for (auto& [name, tensor] : model.weights)
        if (name == "blocks.1.mixer.w") tensor = tensor + 1;
    write_checkpoint(path("m"), model);
    EXPECT_NE(words().find("one tensor for several, and 'blocks.1.mixer.w' differs"),
              std::string::npos)
        << words();
}

// Out as a state dict and in again, without a word on its settings; what a training left behind
// stays behind, and tensors that do not fit are refused.
TEST_F(OwnImport, AStateDictOfOursCarriesItsSettings) {
    static_cast<void>(import_job(
        {.file = source_file("tests/model/imports/labml.pt").string(), .out = path("m")}));
    Checkpoint model = read_checkpoint(path("m"));
    model.config.data.source = "mirror";
    model.data["alphabet"] = {97, 98};
    model.step = 7;
    write_checkpoint(path("m"), model);
    static_cast<void>(export_names(path("m"), path("t"), "torch"));
    const ImportResult found = import_job({.file = path("t"), .out = path("back")});
    EXPECT_EQ(found.importer, "afterimage");
    EXPECT_EQ(found.mapped.size(), model.weights.size());
    const Checkpoint back = read_checkpoint(path("back"));
    EXPECT_EQ(config_to_json(back.config), config_to_json(model.config));
    EXPECT_EQ(back.data, model.data);
    EXPECT_EQ(back.step, 7);
    ASSERT_EQ(back.weights.size(), model.weights.size());
    for (size_t i = 0; i < back.weights.size(); ++i) {
        EXPECT_EQ(back.weights[i].first, model.weights[i].first);
        EXPECT_TRUE(at::equal(back.weights[i].second, model.weights[i].second));
    }
    const auto refusal = [&](std::vector<std::pair<std::string, std::string>> set) {
        return error_words([&] {
            static_cast<void>(import_job({.file = path("t"), .out = path("no"), .set = set}));
        });
    };
    EXPECT_EQ(refusal({{"model.dropout", "0.5"}}), "");
    EXPECT_EQ(read_checkpoint(path("no")).config.model.dropout, 0.5);
    EXPECT_NE(refusal({{"model.layers", "1"}}).find("does not fit its config"), std::string::npos);
    TensorFile plain = read_tensors(path("t"));
    plain.metadata.clear();
    write_tensors(path("t"), plain);
    const std::string words = refusal({});
    for (const char* const needed : {"--as afterimage", "--set model.task=", "--set model.mixer="})
        EXPECT_NE(words.find(needed), std::string::npos) << words;
}

// Its own settings, from a file or a folder, for a run that continues from it.
TEST_F(OwnImport, AModelTellsItsSettings) {
    const std::string labml = source_file("tests/model/imports/labml.pt").string();
    static_cast<void>(import_job({.file = labml, .out = path("m")}));
    const Config stored = read_checkpoint(path("m")).config;
    const ModelSettings found = settings_of_model(path("m"));
    EXPECT_EQ(config_to_json(found.config), config_to_json(stored));
    EXPECT_EQ(found.config.data.source, "");
    for (const std::string& other : {labml, path("none")})
        EXPECT_NE(error_words([&] { static_cast<void>(settings_of_model(other)); }), "");
    static_cast<void>(import_job(
        {.file = source_file("tests/model/imports/rish16.pt").string(), .out = path("layer")}));
    const std::string words =
        error_words([&] { static_cast<void>(settings_of_model(path("layer"))); });
    EXPECT_NE(words.find("a mixer alone has no task"), std::string::npos) << words;
    // Its alphabet and its size, where the SPEC does not say them.
    EXPECT_EQ(data_for_model("text:a.txt", {stored, {'a', 'b', 'c'}}),
              "text:a.txt?alphabet=616263");
    EXPECT_EQ(data_for_model("text:a.txt?alphabet=256", {stored, {'a', 'b'}}),
              "text:a.txt?alphabet=256");
    const Config shapes = load_preset("demo-shapes");
    const std::string side = std::to_string(shapes.model.height);
    EXPECT_EQ(data_for_model("images:there?levels=4&gray=1", {shapes}),
              "images:there?levels=4&gray=1&size=" + side);
}

}  // namespace
}  // namespace aft
