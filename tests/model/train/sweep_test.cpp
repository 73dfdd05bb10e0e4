// Sweeps: what a file says, runs that are done, failed and resumed, and their summaries.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "core/check.h"
#include "core/files.h"
#include "model/checkpoints/checkpoint.h"
#include "model/checkpoints/run_paths.h"
#include "model/jobs.h"
#include "tests/model/scratch.h"

namespace aft {
namespace {

nlohmann::json small_sweep() {
    return {{"sentence", "two windows"},
            {"preset", "demo-mirror"},
            {"set",
             {{"train.steps", 2},
              {"train.schedule_steps", 2},
              {"train.batch", 2},
              {"train.validate_every", 0},
              {"model.mixer", "aft-local"},
              {"model.layers", 1},
              {"model.dim", 8},
              {"model.factors", 4}}},
            {"data", "mirror?size=8"},
            {"axes", {{{"key", "model.window"}, {"values", {4, 8}}}}},
            {"seeds", {1, 2}},
            {"split", "test"},
            {"limit", 4}};
}

struct SweepFolder {
    Scratch scratch;
    SweepRequest request;
    explicit SweepFolder(const nlohmann::json& plan) {
        write_atomically(scratch / "windows.json", plan.dump());
        request.file = (scratch / "windows.json").string();
        request.out = (scratch / "out").string();
    }
    SweepResult run(int64_t stop_after = -1) {
        std::stop_source stop;
        int64_t published = 0;
        return sweep_job(request, {.stop = stop.get_token()}, [&](const SweepResult&) {
            if (published++ == stop_after) stop.request_stop();
        });
    }
    std::string refusal() {
        try {
            (void)read_sweep(request);
        } catch (const Error& error) {
            EXPECT_EQ(error.kind(), ErrorKind::usage);
            return error.what();
        }
        return "";
    }
};

TEST(Sweep, TrainsAndMeasuresEveryPointWithEverySeed) {
    SweepFolder folder(small_sweep());
    const SweepResult result = folder.run();
    ASSERT_EQ(result.runs.size(), 4U);
    EXPECT_EQ(result.count(SweepState::done), 4);
    EXPECT_EQ(result.metric, "bits_per_dim");
    EXPECT_EQ(result.plan.x_key, "model.window");
    EXPECT_EQ(result.plan.points[1].name, "window=8");
    for (const SweepRun& run : result.runs) {
        EXPECT_TRUE(is_run_folder(run.folder)) << run.folder;
        EXPECT_EQ(run.step, 2);
        EXPECT_EQ(run.examples, 4);
        EXPECT_NEAR(run.metric_value, run.loss_nats / std::log(2.0), 1e-9);
    }
    EXPECT_NE(result.runs[0].metric_value, result.runs[1].metric_value) << "two seeds";
    const SweepSummary& first = result.summaries[0];
    const double a = result.runs[0].metric_value, b = result.runs[1].metric_value;
    EXPECT_EQ(first.n, 2);
    EXPECT_NEAR(first.mean, (a + b) / 2, 1e-12);
    EXPECT_NEAR(first.deviation, std::abs(a - b) / std::sqrt(2.0), 1e-9);
    EXPECT_NEAR(first.error, first.deviation / std::sqrt(2.0), 1e-12);
}

TEST(Sweep, ContinuesWhereItStopped) {
    SweepFolder folder(small_sweep()), whole(small_sweep());
    const SweepResult part = folder.run(/*stop_after=*/1);
    EXPECT_EQ(part.count(SweepState::done), 1);
    EXPECT_EQ(part.count(SweepState::open), 3);
    EXPECT_THROW((void)folder.run(), Error) << "not without --resume";
    folder.request.resume = true;
    const auto written = fs::last_write_time(fs::path(part.runs[0].folder) / "checkpoints" /
                                             "step-00000002.safetensors");
    const SweepResult rest = folder.run();
    EXPECT_EQ(rest.count(SweepState::done), 4);
    EXPECT_EQ(fs::last_write_time(fs::path(part.runs[0].folder) / "checkpoints" /
                                  "step-00000002.safetensors"),
              written)
        << "what is done is not trained again";
    const SweepResult expected = whole.run();
    for (size_t i = 0; i < 4; ++i)
        EXPECT_EQ(rest.runs[i].metric_value, expected.runs[i].metric_value) << i;
}

TEST(Sweep, EveryRunStartsFromGivenWeights) {
    nlohmann::json plan = small_sweep();
    plan["seeds"] = {1};
    plan["set"]["train.steps"] = 0;
    SweepFolder first(plan);
    const std::string from = first.run().runs[0].folder;
    plan["from"] = from;
    plan["seeds"] = {2};
    SweepFolder folder(plan);
    const SweepResult result = folder.run();
    ASSERT_EQ(result.count(SweepState::done), 2) << result.runs[0].error;
    const Checkpoint given = read_checkpoint(from);
    for (const SweepRun& run : result.runs) {
        const std::string events = read_file(fs::path(run.folder) / "events.jsonl");
        EXPECT_NE(events.find("started from " + from), std::string::npos) << events;
        for (const auto& [name, tensor] : read_checkpoint(run.folder).weights)
            for (const auto& [known, value] : given.weights)
                if (known == name) {
                    EXPECT_TRUE(at::equal(tensor, value)) << run.folder << " " << name;
                }
    }
    // What it continues is the same; weights that are not there are no plan.
    folder.request.resume = true;
    EXPECT_EQ(folder.run().count(SweepState::done), 2);
    plan["from"] = "nowhere.safetensors";
    EXPECT_NE(SweepFolder(plan).refusal().find("nowhere.safetensors"), std::string::npos);
}

TEST(Sweep, AFailedRunLeavesTheOthers) {
    nlohmann::json plan = small_sweep();
    // The second point diverges at once.
    plan.erase("axes");
    plan["variants"] = {{{"name", "well"}, {"set", nlohmann::json::object()}},
                        {{"name", "lost"}, {"set", {{"data.source", "images:/nowhere"}}}}};
    SweepFolder folder(plan);
    const SweepResult result = folder.run();
    EXPECT_EQ(result.count(SweepState::done), 2);
    EXPECT_EQ(result.count(SweepState::failed), 2);
    EXPECT_NE(result.runs[2].error.find("/nowhere"), std::string::npos) << result.runs[2].error;
    EXPECT_EQ(result.summaries[1].n, 0);
    EXPECT_TRUE(std::isnan(result.summaries[1].mean));
}

TEST(Sweep, AnotherPlanDoesNotResumeInItsFolder) {
    SweepFolder folder(small_sweep());
    (void)folder.run(/*stop_after=*/0);
    nlohmann::json other = small_sweep();
    other["limit"] = 5;
    write_atomically(folder.request.file, other.dump());
    folder.request.resume = true;
    EXPECT_THROW((void)folder.run(), Error);
}

TEST(Sweep, BadFilesNameTheFileTheKeyAndWhatIsAllowed) {
    const auto with = [](const char* key, nlohmann::json value) {
        nlohmann::json plan = small_sweep();
        plan[key] = std::move(value);
        return plan;
    };
    const std::vector<std::pair<nlohmann::json, std::string>> bad{
        {with("axis", 1), "no key 'axis'"},
        {with("axes", {{{"key", "model.windw"}, {"values", {1}}}}), "did you mean 'model.window'"},
        {with("axes", {{{"key", "model.window"}, {"values", nlohmann::json::array()}}}), "values"},
        {with("seeds", {1, 1}), "there twice"},
        {with("seeds", {-1}), "seeds"},
        {with("preset", "demo-mirrr"), "did you mean 'demo-mirror'"},
        {with("x", "model.dim"), "x: found 'model.dim'"},
        {with("variants", {{{"name", "../up"}}}), "name is"},
        {with("variants", {{{"name", "a"}}, {{"name", "a"}}}), "there twice"},
        {nlohmann::json::array(), "an object"}};
    for (const auto& [plan, words] : bad) {
        SweepFolder folder(plan);
        const std::string message = folder.refusal();
        EXPECT_NE(message.find("windows.json"), std::string::npos) << message;
        EXPECT_NE(message.find(words), std::string::npos) << words << " not in: " << message;
    }
}

TEST(Sweep, EveryReadySweepCanBeRead) {
    const std::vector<RoomInfo> ready = list_sweeps();
    EXPECT_GE(ready.size(), 10U);
    for (const RoomInfo& room : ready) {
        SweepRequest request;
        request.preset = room.name;
        const SweepPlan plan = read_sweep(request);
        EXPECT_EQ(plan.seeds.size(), 3U) << room.name;
        EXPECT_GE(plan.points.size(), 2U) << room.name;
        EXPECT_FALSE(plan.paper.empty()) << room.name;
        EXPECT_FALSE(room.sentence.empty()) << room.name;
    }
}

}  // namespace
}  // namespace aft
