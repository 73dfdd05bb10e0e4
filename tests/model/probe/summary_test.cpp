// The rows of the list of recent runs, and which runs are found without being named.
#include <gtest/gtest.h>

#include "model/checkpoints/checkpoint.h"
#include "model/jobs.h"
#include "model/probe/probe.h"
#include "tests/model/net/tiny_nets.h"
#include "tests/model/train/train_fixtures.h"

namespace aft {
namespace {

namespace fs = std::filesystem;

struct WorkingFolder {  // of the process, put back at the end
    fs::path before = fs::current_path();
    explicit WorkingFolder(const fs::path& path) { fs::current_path(path); }
    WorkingFolder(const WorkingFolder&) = delete;
    WorkingFolder& operator=(const WorkingFolder&) = delete;
    ~WorkingFolder() { fs::current_path(before); }
};

void train_run(const std::string& out, int64_t until) {
    TrainRequest request;
    request.config = tiny_config();
    request.out = out;
    request.until = until;
    (void)train_job(request, {});
}

TEST(Summary, TellsHowARunEnded) {
    const Scratch folder;
    const std::string run = (folder / "run").string();
    train_run(run, 3);
    EXPECT_EQ(summarize_run(run).state, "paused");
    EXPECT_EQ(summarize_run(run).step, 3);
    std::ofstream(folder / "run" / "events.jsonl", std::ios::app)
        << R"({"step":4,"kind":"error","detail":{"text":"NaN or infinity first in 'logits'"}})"
        << "\n";
    EXPECT_EQ(summarize_run(run).state, "failed");
    std::ofstream(folder / "run" / "events.jsonl", std::ios::app)
        << R"({"step":3,"kind":"rewind","detail":{}})"
        << "\n";
    EXPECT_EQ(summarize_run(run).state, "paused") << "it went back to before the error";
    EXPECT_NE(summarize_run((folder / "none").string()).error, "");
}

TEST(Summary, AnErrorStaysUntilTrainingContinuesAndARaisedTargetIsNotFinished) {
    const Scratch folder;
    const std::string run = (folder / "run").string();
    train_run(run, 3);
    const auto add = [&](const char* file, const char* line) {
        std::ofstream(folder / "run" / file, std::ios::app) << line << "\n";
    };
    add("events.jsonl", R"({"step":4,"kind":"error","detail":{"text":"NaN"}})");
    add("events.jsonl", R"({"step":3,"kind":"save","detail":{}})");
    add("events.jsonl", R"({"step":3,"kind":"setting","detail":{"text":"train.clip = 1"}})");
    EXPECT_EQ(summarize_run(run).state, "failed") << "what was saved at its end mends nothing";
    add("metrics.jsonl", R"({"step":4,"loss":0.5})");
    EXPECT_EQ(summarize_run(run).state, "paused") << "the step was done in the end";
    const int64_t steps = summarize_run(run).target_step;
    const std::string last = fmt::format(R"({{"step":{},"loss":0.5}})", steps);
    add("metrics.jsonl", last.c_str());
    EXPECT_EQ(summarize_run(run).state, "finished");
    add("events.jsonl", R"({"step":4,"kind":"target","detail":{"text":"","steps":100000}})");
    EXPECT_EQ(summarize_run(run).state, "paused") << "it was to continue, and was stopped";
    EXPECT_EQ(summarize_run(run).target_step, 100000);
}

// The last step is saved, but logged only where it is a multiple of train.log_every.
TEST(Summary, AFinishedRunThatLogsSeldomIsFinished) {
    const Scratch folder;
    TrainRequest request;
    request.config = tiny_config();
    request.config.train.steps = 7;
    request.config.train.log_every = 5;
    request.out = (folder / "run").string();
    (void)train_job(request, {});
    const RunSummary summary = summarize_run(request.out);
    EXPECT_EQ(summary.step, 7);
    EXPECT_EQ(summary.state, "finished");
}

TEST(Summary, AStepAndABranchAreCalledAfterTheirRun) {
    EXPECT_EQ(shown_name("runs/mirror-1"), "mirror-1");
    EXPECT_EQ(shown_name("runs/mirror-1/"), "mirror-1");
    EXPECT_EQ(shown_name("sweep/lr=0.001,seed=1"), "lr=0.001,seed=1");
    EXPECT_EQ(shown_name("models/mirror.safetensors"), "mirror");
    EXPECT_EQ(shown_name("runs/a/checkpoints/step-00000050.safetensors"), "a, step 50");
    EXPECT_EQ(shown_name("runs/a/checkpoints/step-00000000.safetensors"), "a, step 0");
    EXPECT_EQ(shown_name("runs/a/branches/until-00000400"), "a, until step 400");
    EXPECT_EQ(run_of_step("runs/a/checkpoints/step-00000050.safetensors"), "runs/a");
    EXPECT_EQ(run_of_step("step-00000050.safetensors"), "");
    EXPECT_EQ(run_of_step("runs/a"), "");
}

// The number in the list says of which data it is: validation where that was measured.
TEST(Summary, TheMetricIsNamed) {
    const Scratch folder;
    const std::string run = (folder / "run").string();
    train_run(run, 3);
    EXPECT_EQ(summarize_run(run).metric_words, "training bits/dim");
    EXPECT_TRUE(std::isfinite(summarize_run(run).metric));
    std::ofstream(folder / "run" / "metrics.jsonl", std::ios::app)
        << R"({"step":4,"loss":0.5,"bits_per_dim":0.75,"validation.bits_per_dim":0.5})"
        << "\n"
        << R"({"step":5,"loss":0.5,"bits_per_dim":0.25})"
        << "\n";
    EXPECT_EQ(summarize_run(run).metric_words, "validation bits/dim");
    EXPECT_EQ(summarize_run(run).metric, 0.5);
    Checkpoint checkpoint;
    checkpoint.config.model = tiny_model("aft-simple", "image");
    const Net net = tiny_net(checkpoint.config.model);
    for (const Parameter& parameter : net.parameters())
        checkpoint.weights.emplace_back(parameter.name, parameter.value);
    for (const bool has_validation : {false, true}) {
        checkpoint.metrics = {{"bits_per_dim", 0.25}};
        if (has_validation) checkpoint.metrics["validation.bits_per_dim"] = 0.5;
        const std::string path = (folder / "model.safetensors").string();
        write_checkpoint(path, checkpoint);
        const RunSummary summary = summarize_run(path);
        EXPECT_EQ(summary.metric_words,
                  has_validation ? "validation bits/dim" : "training bits/dim");
        EXPECT_EQ(summary.metric, has_validation ? 0.5 : 0.25) << summary.error;
    }
}

// exp(w)-1 in the fixed gauge, nothing where the source is not visible.
TEST(Summary, TheThumbnailIsTheMapThatTheBiasesWorkspaceShows) {
    const Scratch folder;
    int maps = 0;
    for (const ModelConfig& model : tiny_models(true, true)) {
        SCOPED_TRACE(model.mixer + " " + model.task);
        const Net net = tiny_net(model);
        Checkpoint checkpoint;
        checkpoint.config.model = model;
        for (const Parameter& parameter : net.parameters())
            checkpoint.weights.emplace_back(parameter.name, parameter.value);
        const std::string path = (folder / "model.safetensors").string();
        write_checkpoint(path, checkpoint);
        const RunSummary summary = summarize_run(path);
        ASSERT_EQ(summary.error, "");
        if (summary.thumbnail.values.empty()) continue;
        ++maps;
        const bool has_kernel = model.mixer.starts_with("aft-conv");
        ProbeRequest request;
        request.probe = has_kernel ? "kernel" : "bias";
        request.layer = 1;
        request.options = {{"quantity", "exp-1"}};
        if (!has_kernel) {
            request.options["gauge"] = "fixed";
            request.options["visible"] = "nan";
        }
        Activations kept;
        const Field shown = run_probe({net, 0, {}, kept}, request).fields.at(0);
        const std::vector<float>& found = summary.thumbnail.values;  // of a kernel the first head
        ASSERT_LE(found.size(), shown.values.size());
        EXPECT_GE(found.size(), model.mixer == "aft-conv2d" ? 9u : shown.values.size());
        for (size_t i = 0; i < found.size(); ++i) {
            const float wanted = std::isnan(shown.values[i]) ? 0 : shown.values[i];
            ASSERT_NEAR(found[i], wanted, 1e-5 * std::max(1.0F, std::abs(wanted))) << i;
        }
    }
    EXPECT_GE(maps, 7);
}

TEST(Summary, RunsHereAreThoseInTheFolderOfRuns) {
    const Scratch folder;
    const WorkingFolder there(folder.path());
    EXPECT_TRUE(runs_here(8).empty()) << "there is no folder runs";
    for (const char* name : {"first", "second", "third"}) train_run(std::string("runs/") + name, 1);
    fs::create_directories("runs/no-run");
    std::ofstream("runs/a-file") << "x";
    const auto now = fs::file_time_type::clock::now();
    fs::last_write_time("runs/first/config.json", now + std::chrono::seconds(2));
    fs::last_write_time("runs/second/config.json", now + std::chrono::seconds(1));
    fs::last_write_time("runs/third/config.json", now);
    const auto found = runs_here(8);
    ASSERT_EQ(found.size(), 3u);
    EXPECT_EQ(fs::path(found[0]).filename(), "first");
    EXPECT_EQ(fs::path(found[2]).filename(), "third");
    EXPECT_TRUE(fs::path(found[0]).is_absolute());
    EXPECT_EQ(runs_here(2).size(), 2u);
}

}  // namespace
}  // namespace aft
