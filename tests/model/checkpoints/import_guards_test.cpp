// What an import refuses so that nothing is lost or taken for another function: windows beside a
// mask, settings that nothing reads, and files that are read and written at once.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <tuple>

#include "core/caught.h"
#include "core/files.h"
#include "model/checkpoints/checkpoint.h"
#include "model/checkpoints/format.h"
#include "model/jobs/export.h"
#include "model/jobs/import.h"
#include "tests/model/scratch.h"
#include "tests/source_file.h"

namespace aft {
namespace {

using Settings = std::vector<std::pair<std::string, std::string>>;

std::string shipped_origin(const std::string& name) {
    return source_file("tests/model/imports/" + name).string();
}

class ImportGuards : public ::testing::Test {
  protected:
    [[nodiscard]] std::string path(const std::string& name) const {
        return (folder_ / name).string();
    }
    // The importer's words for a failure; "" where it worked.
    [[nodiscard]] std::string failure(const ImportRequest& request) const {
        return error_words([&] { static_cast<void>(import_job(request)); });
    }
    TemporaryFolder folder_;
};

// The window that the mask of the file says, and no other function than that.
TEST_F(ImportGuards, AWindowBesideAMaskIsTheMasks) {
    const std::string in = shipped_origin("labml-layer.pt");
    const auto words_of = [&](Settings set) {
        return failure({.file = in, .out = path("m"), .set = std::move(set)});
    };
    std::string words = words_of({{"model.window", "5"}});
    EXPECT_NE(words.find("|t - j| < 3, but model.window is 5"), std::string::npos) << words;
    words = words_of({{"model.mixer", "aft-full"}});
    EXPECT_NE(words.find("model.mixer=aft-full has no window"), std::string::npos) << words;
    EXPECT_FALSE(fs::exists(path("m")));
    EXPECT_EQ(words_of({{"model.window", "3"}}), "");
    EXPECT_EQ(words_of({}), "");
    EXPECT_EQ(mixer_traits(read_checkpoint(path("m")).config.model).window, 3);
}

TEST_F(ImportGuards, RefusesSettingsThatTheModelDoesNotRead) {
    for (const auto& [file, key, expected] :
         {std::tuple{"timm.pt", "model.window", "model.mixer=softmax does not read it"},
          {"rish16.pt", "model.levels", "a layer alone"},
          {"rish16-simple.pt", "model.window", "model.mixer=aft-simple does not read it"}}) {
        const std::string words =
            failure({.file = shipped_origin(file), .out = path("m"), .set = {{key, "7"}}});
        EXPECT_NE(words.find(std::string("--set ") + key), std::string::npos) << words;
        EXPECT_NE(words.find(expected), std::string::npos) << words;
    }
    std::string own = read_file(source_file("assets/imports/rish16.json"));
    own.replace(own.find("\"model.factors\""), 0, "\"model.buckets\": 7, ");
    write_atomically(path("own.json"), own);
    const std::string words =
        failure({.file = shipped_origin("rish16.pt"), .out = path("m"), .map = path("own.json")});
    EXPECT_NE(words.find("own.json: settings: model.buckets"), std::string::npos) << words;
    EXPECT_FALSE(fs::exists(path("m")));
}

TEST_F(ImportGuards, LeavesOutNotesWhoseSettingIsGiven) {
    const auto notes = [&](Settings set) {
        return import_job(
                   {.file = shipped_origin("timm.pt"), .set = std::move(set), .dry_run = true})
            .notes;
    };
    EXPECT_EQ(notes({}).size(), 2u);
    EXPECT_EQ(notes({{"model.heads", "2"}}).size(), 1u);
    EXPECT_TRUE(notes({{"model.heads", "2"}, {"model.input_norm", "half"}}).empty());
}

// Nothing that is read is written over, by whatever name.
TEST_F(ImportGuards, NeverWritesOverWhatItReads) {
    const TensorFile file = read_tensors(shipped_origin("rish16.pt"));
    const std::string in = path("in.safetensors");
    write_tensors(in, {.tensors = file.tensors, .metadata = {}});
    fs::create_symlink(in, path("link.safetensors"));
    fs::create_hard_link(in, path("hard.safetensors"));
    const std::string before = read_file(in);
    for (const char* out : {"in.safetensors", "link.safetensors", "hard.safetensors"}) {
        std::string words = failure({.file = in, .out = path(out)});
        EXPECT_NE(words.find("-o " + path(out)), std::string::npos) << words;
        EXPECT_NE(words.find(in), std::string::npos) << words;
        words = failure({.file = path(out), .out = in});
        EXPECT_NE(words.find("would write over it"), std::string::npos) << words;
    }
    EXPECT_EQ(read_file(in), before);
    ASSERT_EQ(failure({.file = in, .out = path("m.safetensors")}), "");
    const std::string model = read_file(path("m.safetensors"));
    for (const char* as : {"rish16", "torch"})
        EXPECT_NE(
            error_words([&] {
                static_cast<void>(export_names(path("m.safetensors"), path("m.safetensors"), as));
            }).find("would write over it"),
            std::string::npos);
    EXPECT_THROW(static_cast<void>(export_weights(path("m.safetensors"), path("m.safetensors"),
                                                  /*half=*/true)),
                 Error);
    EXPECT_EQ(read_file(path("m.safetensors")), model);
    EXPECT_NE(failure({.file = in, .out = path("x.PT")}).find(".safetensors"), std::string::npos);
    EXPECT_FALSE(fs::exists(path("x.PT")));
}

// Two layers of one's own: "enc.N.query" [4, 4], "enc.N.kv" [8, 4], a counter.
class OwnMapping : public ImportGuards {
  protected:
    void SetUp() override {
        at::manual_seed(3);
        std::vector<std::pair<std::string, at::Tensor>> tensors;
        for (const std::string layer : {"enc.0.", "enc.1."}) {
            tensors.emplace_back(layer + "query", at::randn({4, 4}));
            tensors.emplace_back(layer + "kv", at::randn({8, 4}));
        }
        tensors.emplace_back("steps", at::ones({1}));
        write_tensors(path("in"), {.tensors = tensors, .metadata = {}});
    }
    void write_map(const std::string& rules) const {
        write_atomically(path("own.json"),
                         R"({"settings": {"model.task": "layer", "model.mixer": "aft-simple",
                             "model.dim": 4, "model.layers": 2, "model.height": 1,
                             "model.width": 6, "model.output_projection": false}, )" +
                             rules + "}");
    }
    [[nodiscard]] ImportRequest request(bool dry_run) const {
        return {.file = path("in"), .out = path("m"), .map = path("own.json"), .dry_run = dry_run};
    }
};

void expect_all(const std::string& words, const std::vector<std::string>& parts) {
    for (const std::string& part : parts)
        EXPECT_NE(words.find(part), std::string::npos) << part << "\n" << words;
}

TEST_F(OwnMapping, SaysAllThatIsWrongAtOnce) {
    write_map(R"("tensors": [
        {"from": "enc.{i}.query", "to": "blocks.{i}.mixer.query.weight"},
        {"from": "enc.{i}.kv", "to": ["blocks.{i}.mixer.k.weight", "blocks.{i}.mixer.v.weight"],
         "shape": ["5"]}], "fill": {"blocks.{i}.mixer.{p}.bias": 0})");
    expect_all(failure(request(true)),
               {"read by " + path("own.json"), "one tensor that no rule knows: 'steps' [1]",
                R"({"from": "steps", "drop": "why"})", "2 rules fail: 'enc.0.kv' [8, 4]",
                "cannot become [5]", "2 parameters have no value: 'blocks.0.mixer.q.weight' [4, 4]",
                R"("fill": {"blocks.{i}.mixer.q.weight": 0})",
                "2 names of \"to\" are not part of the model: 'blocks.0.mixer.query.weight' [4, 4]",
                "did you mean"});
    // What a rule that fails would give is no second fault.
    EXPECT_EQ(failure(request(true)).find("mixer.k.weight"), std::string::npos);
}

constexpr const char* kSoundRules = R"("tensors": [
    {"from": "enc.{i}.query", "to": "blocks.{i}.mixer.q.weight", "shape": ["4", "4"]BACK},
    {"from": "enc.{i}.kv", "to": ["blocks.{i}.mixer.k.weight", "blocks.{i}.mixer.v.weight"]},
    {"from": "steps", "drop": "a counter"}], "fill": {"blocks.{i}.mixer.{p}.bias": 0})";

TEST_F(OwnMapping, ExportSaysWhatIsNotWrittenAndWhatHasNoWayBack) {
    std::string rules = kSoundRules;
    const size_t at = rules.find("BACK");
    write_map(rules.substr(0, at) + rules.substr(at + 4));
    const ImportResult result = import_job(request(false));
    ASSERT_EQ(result.notes.size(), 1u);
    expect_all(result.notes[0], {"cannot be exported back", "'enc.{i}.query'", "no \"back\""});
    const auto refusal = [&] {
        return error_words(
            [&] { static_cast<void>(export_mapped(path("m"), path("t"), path("own.json"))); });
    };
    expect_all(refusal(), {"'enc.0.query'", "own.json", "has \"shape\" and no \"back\""});
    write_map(rules.replace(at, 4, R"(, "back": ["4", "4"])"));
    EXPECT_TRUE(import_job(request(true)).notes.empty());
    const ExportResult out = export_mapped(path("m"), path("t"), path("own.json"));
    ASSERT_EQ(out.left_out.size(), 7u);  // the counter, three biases of each layer
    EXPECT_EQ(out.left_out[0].name, "steps");
    EXPECT_EQ(out.left_out[0].why, "a counter");
    EXPECT_EQ(out.left_out[1].name, "blocks.0.mixer.k.bias");
    // NaN is named: it is equal to nothing, itself too.
    Checkpoint made = read_checkpoint(path("m"));
    for (auto& [name, tensor] : made.weights)
        if (name == "blocks.1.mixer.q.weight") tensor[2].fill_(std::nan(""));
    write_checkpoint(path("m"), made);
    expect_all(refusal(), {"NaN", "'blocks.1.mixer.q.weight' (4 of 16 values)"});
}

// A layer under the names of a whole model: what it is, and what fits it.
TEST_F(ImportGuards, ExportSaysWhichNamesFitALayer) {
    ASSERT_EQ(failure({.file = shipped_origin("labml-layer.pt"), .out = path("m")}), "");
    const std::string words =
        error_words([&] { static_cast<void>(export_names(path("m"), path("no"), "labml")); });
    EXPECT_NE(words.find("a layer alone"), std::string::npos) << words;
    EXPECT_NE(words.find("--as labml-layer fits it"), std::string::npos) << words;
    for (const char* other : {"--set", "src_embed"})
        EXPECT_EQ(words.find(other), std::string::npos) << words;
}

}  // namespace
}  // namespace aft
