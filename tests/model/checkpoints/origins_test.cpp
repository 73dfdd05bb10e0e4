// ViTs that go out under timm's names with what its state dict cannot hold, and files of others
// that are near to a known origin.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <functional>

#include "core/caught.h"
#include "core/files.h"
#include "model/checkpoints/checkpoint.h"
#include "model/checkpoints/format.h"
#include "model/jobs/export.h"
#include "model/jobs/import.h"
#include "model/jobs/run.h"
#include "model/jobs/train.h"
#include "model/train/warm_start.h"
#include "tests/model/net/small_nets.h"
#include "tests/model/scratch.h"
#include "tests/source_file.h"

namespace aft {
namespace {

class TimmExport : public ::testing::Test {
  protected:
    // A ViT that timm can build, by its arguments alone.
    static Config vit() {
        Config config;
        config.model = small_config("softmax", "classify");
        config.model.dim = 12;
        config.model.own["heads"] = int64_t{3};
        config.model.own["patch"] = int64_t{2};
        config.model.own["class_token"] = true;
        config.model.own["classes"] = int64_t{5};
        config.model.height = 8;
        config.model.width = 6;
        config.model.channels = 3;
        config.model.activation = "relu";
        config.model.norm_eps = 1e-5;
        config.model.check();
        return config;
    }
    void store(const Config& config) const {
        Net net(config.model, 5);
        shake(net, 0.2, 5);
        Checkpoint out;
        out.config = config;
        for (const Parameter& p : net.parameters())
            out.weights.emplace_back(p.name, p.value.detach().clone());
        write_checkpoint(path("m"), out);
    }
    [[nodiscard]] std::string path(const std::string& name) const {
        return (folder_ / name).string();
    }
    [[nodiscard]] std::string refusal() const {
        return error_words([&] { static_cast<void>(export_names(path("m"), path("no"), "timm")); });
    }
    [[nodiscard]] at::Tensor answer(const std::string& model) const {
        at::manual_seed(1);
        write_tensors(path("x"), {.tensors = {{"image", at::randn({2, 3, 8, 6})}}, .metadata = {}});
        const RunResult run =
            run_job({.model = path(model), .in = path("x"), .out = path("y"), .part = ""});
        return *read_tensors(path("y")).find(run.tensor);
    }
    TemporaryFolder folder_;
};

TEST_F(TimmExport, SaysTheArgumentsThatNoStateDictHolds) {
    store(vit());
    const ExportResult out = export_names(path("m"), path("t"), "timm");
    EXPECT_EQ(out.constructor,
              "timm.models.vision_transformer.VisionTransformer(img_size=(8, 6), patch_size=2, "
              "in_chans=3, num_classes=5, embed_dim=12, depth=2, num_heads=3, mlp_ratio=4, "
              "act_layer=torch.nn.ReLU, norm_layer=functools.partial(torch.nn.LayerNorm, "
              "eps=1e-05)); pictures from 0 to 1 are normalised with mean and deviation 0.5");
    // Read back with nothing said, it is the same function; said otherwise, it is another.
    static_cast<void>(import_job({.file = path("t"), .out = path("again")}));
    const at::Tensor right = answer("m");
    EXPECT_LT(difference(answer("again"), right), 1e-5);
    EXPECT_EQ(read_checkpoint(path("again")).config.model.activation, "relu");
    static_cast<void>(
        import_job({.file = path("t"), .out = path("other"), .set = {{"model.heads", "2"}}}));
    EXPECT_GT(difference(answer("other"), right), 1e-3);
    const WarmStart start = warm_start(vit(), path("t"));
    EXPECT_TRUE(start.fresh.empty());
    // The metadata of a file are anybody's.
    TensorFile file = read_tensors(path("t"));
    for (const char* bad : {"[]", "{\"model.heads\": 3}", "{\"train.seed\": \"3\"}", "{",
                            "{\"model.heads\": \"many\"}", "{\"model.no\": \"3\"}"}) {
        file.metadata["afterimage.settings"] = bad;
        write_tensors(path("bad"), file);
        EXPECT_FALSE(error_words([&] {
                         static_cast<void>(import_job({.file = path("bad"), .out = path("no")}));
                     }).empty())
            << bad;
    }
}

TEST_F(TimmExport, WithoutClassTokenPositionsOrBiases) {
    Config config = vit();
    config.model.own["class_token"] = false;
    config.model.positions = "none";
    config.model.qkv_bias = false;
    store(config);
    const ExportResult out = export_names(path("m"), path("t"), "timm");
    for (const char* words : {"class_token=False, global_pool='avg', fc_norm=False",
                              "pos_embed='none'", "qkv_bias=False"})
        EXPECT_NE(out.constructor.find(words), std::string::npos) << out.constructor;
    const TensorFile file = read_tensors(path("t"));
    EXPECT_EQ(file.find("cls_token"), nullptr);
    EXPECT_EQ(file.find("pos_embed"), nullptr);
    EXPECT_EQ(file.find("blocks.0.attn.qkv.bias"), nullptr);
}

TEST_F(TimmExport, RefusesWhatNoArgumentGives) {
    Config config = vit();
    config.model.positions = "sinusoidal";
    store(config);
    EXPECT_NE(refusal().find("gives model.positions=sinusoidal; it has: learned, none"),
              std::string::npos)
        << refusal();
    config = vit();
    config.model.output_projection = false;
    store(config);
    EXPECT_NE(refusal().find("timm"), std::string::npos) << refusal();
    EXPECT_FALSE(fs::exists(path("no")));
}

class NearOrigins : public ::testing::Test {
  protected:
    // The fixture of timm with other names; "" leaves a tensor out.
    [[nodiscard]] std::string failure(const std::function<std::string(const std::string&)>& name_of,
                                      std::vector<std::pair<std::string, at::Tensor>> more = {},
                                      const std::string& as = "") const {
        std::vector<std::pair<std::string, at::Tensor>> tensors = std::move(more);
        for (const auto& [name, tensor] :
             read_tensors(source_file("tests/model/imports/timm.pt")).tensors) {
            if (!name.starts_with("model.")) continue;
            const std::string other = name_of(name.substr(6));
            if (!other.empty()) tensors.emplace_back(other, tensor);
        }
        const std::string file = (folder_ / "in").string(), out = (folder_ / "m").string();
        write_tensors(file, {.tensors = std::move(tensors), .metadata = {}});
        const std::string words = error_words(
            [&] { static_cast<void>(import_job({.file = file, .out = out, .as = as})); });
        EXPECT_FALSE(fs::exists(out));
        return words;
    }
    static void expect_words(const std::string& words, const std::vector<std::string>& parts) {
        for (const std::string& part : parts)
            EXPECT_NE(words.find(part), std::string::npos) << part << "\n" << words;
    }
    TemporaryFolder folder_;
};

TEST_F(NearOrigins, DinoHasAViTWithoutAHead) {
    const auto backbone = [](const std::string& name) {
        return name.starts_with("head.") ? "" : "backbone." + name;
    };
    expect_words(failure(backbone),
                 {"nearest importer is timm", "under 'backbone.'", "missing: 'head.weight'"});
    // As its training saves it: the student first, an optimiser's state beside both.
    const auto both = [&](const std::string& name) {
        return backbone(name).empty() ? "" : "teacher." + backbone(name);
    };
    expect_words(
        failure(both, {{"student.module.head.mlp.0.weight", at::ones({3, 4})},
                       {"optimizer.state.0.exp_avg", at::ones({3, 4})}}),
        {"nearest importer is timm", "under 'teacher.backbone.'", "missing: 'head.weight'"});
}

TEST_F(NearOrigins, ClipAndHybridsAreRefusedWithTheReason) {
    const at::Tensor one = at::ones({4, 4});
    const auto no_name = [](const std::string&) { return std::string(); };
    const std::vector<std::pair<std::string, at::Tensor>> clip{
        {"visual.class_embedding", one},
        {"visual.positional_embedding", one},
        {"visual.transformer.resblocks.0.attn.in_proj_weight", one},
        {"transformer.resblocks.0.attn.in_proj_weight", one}};
    expect_words(failure(no_name, clip), {"looks like clip", "refused", "ln_pre"});
    // The reason stays where another importer is asked for.
    expect_words(
        failure(no_name, clip, "timm"),
        {"does not fit the importer timm", "these names are those of clip", "refused", "ln_pre"});
    expect_words(failure([](const std::string&) { return std::string(); },
                         {{"vision_model.embeddings.class_embedding", one},
                          {"vision_model.encoder.layers.0.self_attn.q_proj.weight", one}}),
                 {"looks like hf-clip", "refused"});
    expect_words(failure([](const std::string& name) { return name; },
                         {{"patch_embed.backbone.stem.conv.weight", at::ones({4, 3, 7, 7})}}),
                 {"looks like vit-hybrid", "refused", "convolutional"});
}

TEST_F(NearOrigins, AStateDictAmongOtherObjects) {
    expect_words(failure(
                     [](const std::string& name) {
                         return name == "norm.weight" ? "" : "state_dict." + name;
                     },
                     {{"optimizer.state.0.exp_avg", at::ones({3, 4})},
                      {"state_dict.blocks.0.attn.relative", at::ones({3, 4})}}),
                 {"recognised as timm", "'blocks.0.attn.relative' [3, 4]"});
}

}  // namespace
}  // namespace aft
