// The JSON of results: its keys are what people's scripts read.
#include "app/cli/results_json.h"

#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "core/files.h"
#include "model/jobs.h"

namespace aft::app {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

TEST(ResultsJson, PeopleSeeTheClassesThatTheDataHave) {
    EvalResult eval;
    eval.classes = {.names = {"a", "b", "c"}, .count = 3, .confusion = {0, 0, 0, 1, 1, 0, 0, 0, 0}};
    EXPECT_EQ(to_json(eval)["classes"].size(), 3u);
    const nlohmann::json words = to_short_json(eval);
    ASSERT_EQ(words["classes"].size(), 1u);
    EXPECT_EQ(words["classes"][0]["name"], "b");
    EXPECT_EQ(words["classes_without_examples"], 2);
}

TEST(ResultsJson, NaNIsNullAndWhatIsMissingHasNoKey) {
    EvalResult eval;
    eval.metric = "accuracy";
    eval.metric_value = 0.5;
    eval.loss_nats = kNaN;
    EXPECT_EQ(to_json(eval).dump(),
              R"({"accuracy":0.5,"data":"","device":"","examples":0,"loss_nats":null,"model":"",)"
              R"("parameters":0,"peak_memory_bytes":0,"seconds":0.0,"seed":0,"split":"",)"
              R"("step":0,"task":"","tokens":0,"version":")" +
                  version() + "\"}");
    eval.cost.flops_per_example = 5e9;
    EXPECT_EQ(to_json(eval)["flops_per_example"], 5e9);
    EXPECT_FALSE(to_json(ProbeResult()).contains("mean")) << "no value is finite";
    ProbeResult probe;
    probe.min = probe.max = probe.mean = 2;
    EXPECT_EQ(to_json(probe)["mean"], 2);
    TrainResult train;
    EXPECT_EQ(to_json(train).dump(),
              R"({"checkpoint":"","interrupted":false,"metrics":null,"peak_memory_bytes":0,)"
              R"("ranks":1,"run":"","seconds":0.0,"step":0,"steps_done":0,"stop_reason":""})");
    train.metrics = {{"loss", kNaN}, {"lr", 1}};
    EXPECT_EQ(to_json(train)["metrics"].dump(), R"({"loss":null,"lr":1.0})");
    EXPECT_FALSE(to_json(InspectResult()).contains("step")) << "a preset is no checkpoint";
}

TEST(ResultsJson, PackedPartsAreAList) {
    PackResult pack;
    pack.data = "shards:out";
    pack.parts.push_back({.part = "train", .pattern = "out/*.tar", .examples = 3, .shards = 1});
    EXPECT_EQ(to_json(pack).dump(),
              R"({"classes":0,"data":"shards:out","index":"","parts":[{"bytes":0,"examples":3,)"
              R"("part":"train","pattern":"out/*.tar","shards":1}]})");
}

TEST(ResultsJson, ASampleIsAPictureOrAText) {
    CompleteResult result;
    result.samples.resize(2);
    result.samples[0].file = "a.png";
    result.samples[1].text = "";
    result.samples[1].log_likelihood_nats = -1;
    EXPECT_EQ(to_json(result)["samples"].dump(),
              R"([{"bits_per_filled":0.0,"file":"a.png","index":0,"log_likelihood":0.0},)"
              R"({"bits_per_filled":0.0,"index":1,"log_likelihood":-1.0,"text":""}])");
    EXPECT_EQ(to_json(result)["log_likelihoods"].dump(), "[0.0,-1.0]");
    EXPECT_FALSE(to_json(result).contains("weights_cost_bits_per_dim"));
}

}  // namespace
}  // namespace aft::app
