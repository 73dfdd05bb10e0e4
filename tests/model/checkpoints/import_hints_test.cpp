// What an import says of a mapping file of one's own that is not quite right: windows without a
// size, settings and targets that are nearly right, rules that meet nothing, biases the wrong way
// around.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <limits>

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

constexpr int64_t kHintTokens = 6, kHintWindow = 3;

// A causal layer of aft-local: "net.query", "net.kv", "net.pb" [source, target], "net.band".
class ImportHints : public ::testing::Test {
  protected:
    void SetUp() override {
        at::manual_seed(5);
        write_layer(at::randn({kHintTokens, kHintTokens}));
    }
    [[nodiscard]] std::string path(const std::string& name) const {
        return (folder_ / name).string();
    }
    void write_layer(const at::Tensor& bias, int64_t columns = 4) const {
        const at::Tensor ones = at::ones({kHintTokens, kHintTokens});
        write_tensors(path("in"),
                      {.tensors = {{"net.query", at::randn({4, columns})},
                                   {"net.kv", at::randn({8, 4})},
                                   {"net.pb", bias.contiguous()},
                                   {"net.band", ones.triu(1 - kHintWindow).tril(kHintWindow - 1)}},
                       .metadata = {}});
    }
    // The mapping that reads it, with one of its parts as another.
    void write_map(const std::string& part = "", const std::string& other = "") const {
        std::string text = R"json({
  "settings": {"model.task": "layer", "model.mixer": "aft-local", "model.factors": 0,
               "model.causal": true, "model.dim": 4, "model.layers": 1, "model.height": 1,
               "model.width": 6, "model.output_projection": false, "model.window": 3},
  "tensors": [
    {"from": "net.query", "to": "blocks.0.mixer.q.weight"},
    {"from": "net.kv", "to": ["blocks.0.mixer.k.weight", "blocks.0.mixer.v.weight"]},
    {"from": "net.pb", "to": "blocks.0.mixer.w", "transpose": true},
    {"from": "net.band", "drop": "the window says it", "check": "band"}
  ],
  "fill": {"blocks.0.mixer.{p}.bias": 0}
})json";
        if (!part.empty()) {
            ASSERT_NE(text.find(part), std::string::npos) << part;
            text.replace(text.find(part), part.size(), other);
        }
        write_atomically(path("own.json"), text);
    }
    [[nodiscard]] ImportRequest request() const {
        return {.file = path("in"), .out = path("m"), .map = path("own.json")};
    }
    [[nodiscard]] std::string refusal(
        std::vector<std::pair<std::string, std::string>> set = {}) const {
        ImportRequest wanted = request();
        wanted.set = std::move(set);
        wanted.dry_run = true;
        return error_words([&] { static_cast<void>(import_job(wanted)); });
    }
    [[nodiscard]] std::vector<std::string> notes() const { return import_job(request()).notes; }
    TemporaryFolder folder_;
};

void expect_hints(const std::string& words, const std::vector<std::string>& parts) {
    for (const std::string& part : parts)
        EXPECT_NE(words.find(part), std::string::npos) << part << "\n" << words;
}

// "model.window" as a number is the window of a band; there and back.
TEST_F(ImportHints, ANumberOfTheSettingsIsASize) {
    write_map();
    EXPECT_TRUE(notes().empty());
    EXPECT_EQ(mixer_traits(read_checkpoint(path("m")).config.model).window, kHintWindow);
    static_cast<void>(export_mapped(path("m"), path("back"), path("own.json")));
    EXPECT_TRUE(at::equal(read_tensors(path("back")).find("net.band")->to(at::kBool),
                          read_tensors(path("in")).find("net.band")->to(at::kBool)));
    write_map(R"("model.window": 3)", R"json("model.window": "=ones(net.band)")json");
    EXPECT_EQ(refusal(), "");
    write_map(R"("model.window": 3)", R"("model.window": 2)");
    expect_hints(refusal(), {"'net.band' [6, 6]", "is not the band |t - j| < 2"});
    write_map();
    expect_hints(refusal({{"model.window", "2"}}), {"is not the band |t - j| < 2"});
    write_map(R"(, "model.window": 3)", "");
    expect_hints(refusal(), {"'net.band' [6, 6]", "nothing says its window",
                             R"json("sizes": {"window": "ones(net.band)"})json",
                             R"json({"model.window": N})json"});
    EXPECT_EQ(refusal({{"model.window", "3"}}), "");
    write_map(R"("model.window": 3)", R"("model.window": "=wide")");
    expect_hints(refusal(), {"unknown size 'wide'", "a row of \"sizes\"", "--set model.window="});
}

TEST_F(ImportHints, AnUnknownSettingHasItsNameAndNoWayAround) {
    for (const auto& [wrong, right] : {std::pair{"model.eps", "'model.norm_eps'?"},
                                       {"model.windw", "'model.window'?"},
                                       {"model.layer", "'model.layers'?"}}) {
        write_map(R"("model.window")", fmt::format("\"{}\"", wrong));
        const std::string words = refusal();
        expect_hints(words, {"own.json: settings: unknown setting", wrong, right});
        EXPECT_EQ(words.find("--set"), std::string::npos) << words;
    }
    write_map(R"("model.window": 3)", R"("model.window": -3)");
    expect_hints(refusal(), {"--set model.window=VALUE says it instead"});
}

TEST_F(ImportHints, NotesRulesThatMeetNothing) {
    const std::string last = R"("check": "band"})";
    write_map(last, last + R"(, {"from": "net.never", "to": "blocks.0.mixer.q.bias"},
                              {"from": "net.{p}", "drop": "the rest"})");
    const std::vector<std::string> found = notes();
    ASSERT_EQ(found.size(), 2u);
    EXPECT_EQ(found[0], "the rule of 'net.never' met no tensor");
    EXPECT_EQ(found[1], "the rule of 'net.{p}' met no tensor: rules before it take them all");
    // Those of a known origin may be optional.
    const ImportRequest known{.file = source_file("tests/model/imports/rish16.pt").string(),
                              .dry_run = true};
    for (const std::string& note : import_job(known).notes)
        EXPECT_EQ(note.find("met no tensor"), std::string::npos) << note;
}

TEST_F(ImportHints, NamesTheirTensorAndTheTargetThatFits) {
    write_layer(at::randn({kHintTokens, kHintTokens}), 5);
    write_map();
    expect_hints(refusal(),
                 {"'blocks.0.mixer.q.weight' [4, 5] from 'net.query', the settings need [4, 4]"});
    write_layer(at::randn({kHintTokens, kHintTokens}));
    write_map(R"("blocks.0.mixer.w")", R"("blocks.0.mixer.bias")");
    expect_hints(refusal(), {"'blocks.0.mixer.bias' [6, 6] from 'net.pb'",
                             "did you mean 'blocks.0.mixer.w'?"});
    write_map(R"("blocks.0.mixer.w")", R"("blocks.0.a.position.table.of.mine")");
    expect_hints(refusal(), {"did you mean 'blocks.0.mixer.w'?"});
}

TEST_F(ImportHints, NotesABiasThatNoTargetSees) {
    constexpr float kHidden = -std::numeric_limits<float>::infinity();
    const std::string turn = R"(, "transpose": true)", lies = "all lie where a causal target";
    const at::Tensor w = at::randn({kHintTokens, kHintTokens});
    at::Tensor masked = w.clone();
    masked[4].slice(0, 1, 3).fill_(kHidden);
    const at::Tensor outside = at::ones({kHintTokens, kHintTokens}, at::kBool).triu(1);
    for (const auto& [bias, part] : {std::pair{w.tril(), "its values"},
                                     {w.masked_fill(outside, kHidden), "its values"},
                                     {masked, "its -inf"}}) {
        write_layer(bias.t());  // [source, target], as the mapping says
        write_map();
        for (const std::string& note : notes()) EXPECT_EQ(note.find(lies), std::string::npos);
        write_map(turn, "");
        const std::vector<std::string> found = notes();
        ASSERT_FALSE(found.empty());
        expect_hints(found.front(),
                     {"'net.pb' -> 'blocks.0.mixer.w'", part, lies, "is \"transpose\" missing?"});
        write_layer(bias);
        EXPECT_EQ(notes().size(), bias.is_same(masked) ? 1u : 0u);  // what it hides
        write_map();
        expect_hints(notes().front(), {part, "is \"transpose\" one too many?"});
    }
    write_layer(at::zeros({kHintTokens, kHintTokens}));
    EXPECT_TRUE(notes().empty());
    write_layer(w);
    EXPECT_TRUE(notes().empty());
    write_layer(w.tril());  // a model that looks ahead sees them
    write_map(R"("model.causal": true)", R"("model.causal": false)");
    EXPECT_TRUE(notes().empty());
}

}  // namespace
}  // namespace aft
