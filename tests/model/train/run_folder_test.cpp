// Run folders: one writer, whole lines, thinned checkpoints and history, and the job that fills
// them.
#include "model/train/run_folder.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>

#include "core/check.h"
#include "core/files.h"
#include "core/images/image.h"
#include "core/warnings.h"
#include "model/jobs.h"
#include "model/metrics.h"
#include "model/train/history.h"
#include "tests/model/train/run_log.h"
#include "tests/model/train/train_fixtures.h"

namespace aft {
namespace {

StepReport report(int64_t step, double loss) {
    StepReport r;
    r.step = step;
    r.values = {{"loss", loss}};
    r.timing = {{"step_ms", 1.5}};
    return r;
}

Checkpoint empty_checkpoint(int64_t step) {
    Checkpoint checkpoint;
    checkpoint.config = tiny_config();
    checkpoint.step = step;
    return checkpoint;
}

// metrics.jsonl without what depends on the clock.
std::vector<nlohmann::json> repeatable(const fs::path& run) {
    std::vector<nlohmann::json> lines = log_lines(run);
    for (nlohmann::json& line : lines) line.erase("timing");
    return lines;
}

TrainRequest request(const fs::path& out, int64_t until) {
    TrainRequest r;
    r.config = tiny_config();
    r.out = out.string();
    r.until = until;
    return r;
}

TrainResult resume(const fs::path& run, int64_t until) {
    TrainRequest r;
    r.resume = run.string();
    r.until = until;
    return train_job(r, {});
}

TEST(RunFolder, FloatsSurviveExactly) {
    const Scratch folder;
    RunFolder run(folder / "r", tiny_config());
    const std::vector<double> values{1.0 / 3, 5e-324, 1.7976931348623157e308, -0.1, 123456789.125};
    for (size_t i = 0; i < values.size(); ++i)
        run.log(report(static_cast<int64_t>(i + 1), values[i]));
    const std::vector<nlohmann::json> lines = log_lines(folder / "r");
    ASSERT_EQ(lines.size(), values.size());
    for (size_t i = 0; i < values.size(); ++i) {
        EXPECT_EQ(lines[i].at("loss").get<double>(), values[i]);
        EXPECT_EQ(lines[i].at("timing").at("step_ms").get<double>(), 1.5);
    }
}

TEST(RunFolder, AReaderFollowsWholeLinesOnly) {
    const Scratch folder;
    RunFolder run(folder / "r", tiny_config());
    run.log(report(1, 1));
    uint64_t offset = 0;
    Curves curves;
    EXPECT_TRUE(read_rows(folder / "r", offset, curves));
    EXPECT_EQ(curves.step.size(), 1u);
    std::ofstream(folder / "r" / "metrics.jsonl", std::ios::app) << "{\"step\": 2, \"lo";
    (void)read_rows(folder / "r", offset, curves);
    EXPECT_EQ(curves.step.size(), 1u);
    std::ofstream(folder / "r" / "metrics.jsonl", std::ios::app) << "ss\": 2}\n";
    EXPECT_TRUE(read_rows(folder / "r", offset, curves));
    ASSERT_EQ(curves.step.size(), 2u);
    EXPECT_EQ(curves.step[1], 2);
}

TEST(RunFolder, ATornLastLineIsCutOff) {
    const Scratch folder;
    RunFolder(folder / "r", tiny_config()).log(report(1, 1));
    std::ofstream(folder / "r" / "metrics.jsonl", std::ios::app) << "{\"step\": 2, \"lo";
    RunFolder again(folder / "r");
    again.resume_from(1, tiny_config());
    again.log(report(2, 2));
    const std::vector<nlohmann::json> lines = log_lines(folder / "r");
    ASSERT_EQ(lines.size(), 2u);
    EXPECT_EQ(lines[1].at("loss"), 2);
}

TEST(RunFolder, ALineThatIsNotJsonIsNamed) {
    const Scratch folder;
    fs::create_directories(folder / "r");
    put(folder / "r" / "metrics.jsonl", "{\"step\": 1}\nrubbish\n");
    uint64_t offset = 0;
    Curves curves;
    const std::string error = error_of([&] { (void)read_rows(folder / "r", offset, curves); });
    EXPECT_NE(error.find("metrics.jsonl"), std::string::npos);
    EXPECT_NE(error.find("byte 12"), std::string::npos) << error;
}

TEST(RunFolder, AnEventOfAnotherFormIsNamed) {
    const Scratch folder;
    const fs::path run = folder / "r";
    fs::create_directories(run);
    const std::string fine = R"({"step": 1, "kind": "save"})";
    const std::vector<std::pair<std::string, const char*>> bad{
        {R"({"step": 1, "kind": 3})", "kind is a text, found 3"},
        {R"({"step": 1})", "kind is a text, found null"},
        {R"({"step": "x", "kind": "save"})", "step is a whole number, found \"x\""},
        {R"({"step": 1.5, "kind": "save"})", "step is a whole number, found 1.5"},
        {R"({"step": 1, "kind": [")" + std::string(400000, 'k') + "\"]}", "kind is a text"},
        {"[1]", "an event is a JSON object, found an array [1]"}};
    for (const auto& [line, words] : bad) {
        put(run / "events.jsonl", fine + "\n" + line + "\n");
        const std::string error = error_of([&] { (void)read_events(run); });
        EXPECT_NE(error.find("events.jsonl: the line at byte 28"), std::string::npos) << error;
        EXPECT_NE(error.find(words), std::string::npos) << error;
        EXPECT_LT(error.size(), 400u);
    }
}

// A path, say: the line is written, and read back with U+FFFD in its place.
TEST(RunFolder, WhatIsNotUtf8IsWrittenAllTheSame) {
    const Scratch folder;
    Config config = tiny_config();
    config.data.source = "text:caf\xe9";
    RunFolder run(folder / "r", config);
    run.event("note", 1, {{"text", "caf\xe9"}});
    EXPECT_EQ(read_events(folder / "r").at(0).at("detail").at("text"), "caf\ufffd");
    EXPECT_EQ(load_config_file(folder / "r" / "config.json").data.source, "text:caf\ufffd");
    Checkpoint checkpoint = empty_checkpoint(1);
    checkpoint.config = config;
    const Net net(config.model, 1);
    for (const Parameter& parameter : net.parameters())
        checkpoint.weights.emplace_back(parameter.name, parameter.value.detach());
    EXPECT_EQ(read_checkpoint(run.save(checkpoint)).config.data.source, "text:caf\ufffd");
}

TEST(RunFolder, ASecondWriterIsKeptOut) {
    const Scratch folder;
    const RunFolder run(folder / "r", tiny_config());
    const std::string error = error_of([&] { const RunFolder second(folder / "r"); });
    EXPECT_NE(error.find("in use"), std::string::npos) << error;
    EXPECT_NE(error.find(fmt::format("process {}", getpid())), std::string::npos) << error;
}

TEST(RunFolder, ASecondProcessIsKeptOutAndACrashLetsGo) {
    const Scratch folder;
    int ready[2], leave[2];
    ASSERT_EQ(pipe(ready), 0);
    ASSERT_EQ(pipe(leave), 0);
    const pid_t child = fork();
    if (child == 0) {
        auto* run = new RunFolder(folder / "r", tiny_config());  // never destroyed: a crash
        char byte = 'x';
        const bool written = run && write(ready[1], &byte, 1) == 1 && read(leave[0], &byte, 1) == 1;
        _exit(written ? 0 : 1);
    }
    char byte = 0;
    ASSERT_EQ(read(ready[0], &byte, 1), 1);
    const auto open = [&] { const RunFolder second(folder / "r"); };
    EXPECT_NE(error_of(open).find(fmt::format("process {}", child)), std::string::npos);
    ASSERT_EQ(write(leave[1], &byte, 1), 1);
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    EXPECT_EQ(error_of(open), "");
    for (const int fd : {ready[0], ready[1], leave[0], leave[1]}) close(fd);
}

TEST(RunFolder, ForeignFoldersAndBegunRunsAreRefused) {
    const Scratch folder;
    fs::create_directories(folder / "pictures");
    put(folder / "pictures" / "cat.png", "x");
    EXPECT_NE(error_of([&] { const RunFolder r(folder / "pictures", tiny_config()); }), "");
    EXPECT_NE(error_of([&] { const RunFolder r(folder / "none"); }), "");
    put(folder / "file", "x");
    EXPECT_NE(error_of([&] { const RunFolder r(folder / "file", tiny_config()); }), "");
    RunFolder(folder / "r", tiny_config()).log(report(1, 1));
    const std::string error = error_of([&] { const RunFolder r(folder / "r", tiny_config()); });
    EXPECT_NE(error.find("--resume"), std::string::npos) << error;
}

TEST(RunFolder, KeepsTheNewestAndThePinnedCheckpoints) {
    const Scratch folder;
    Config config = tiny_config();
    config.train.keep_checkpoints = 2;
    RunFolder run(folder / "r", config);
    put(folder / "r" / "notes.json", R"({"pinned": [10]})");
    for (const int64_t step : {10, 20, 30, 40}) (void)run.save(empty_checkpoint(step));
    EXPECT_EQ(checkpoint_steps(folder / "r"), (std::vector<int64_t>{10, 30, 40}));
    EXPECT_EQ(resolve_model(folder / "r"), checkpoint_path(folder / "r", 40));
    EXPECT_EQ(checkpoint_path(folder / "r", 40).filename(), "step-00000040.safetensors");
}

TEST(RunFolder, OtherFilesAreNotCheckpoints) {
    const Scratch folder;
    fs::create_directories(folder / "r" / "checkpoints");
    for (const char* name : {"step-00000012.safetensors.tmp", "step-12.safetensors", "step-x",
                             "step-00000012 (copy).safetensors", "notes"})
        put(folder / "r" / "checkpoints" / name, "x");
    EXPECT_TRUE(checkpoint_steps(folder / "r").empty());
    EXPECT_TRUE(checkpoint_steps(folder / "nowhere").empty());
}

TEST(History, ThinsEvenlyAndKeepsFirstAndLast) {
    const Scratch folder;
    Config config = tiny_config();
    const Net net(config.model, 1);
    for (const auto& place : {folder / "h", fs::path()}) {
        History history(place, 8);
        for (int64_t step = 0; step <= 100; ++step) history.record(step, net.parameters());
        history.record(101, net.parameters(), /*always=*/true);
        const std::vector<int64_t>& steps = history.steps();
        EXPECT_LE(steps.size(), 8u);
        EXPECT_GE(steps.size(), 5u);
        EXPECT_EQ(steps.front(), 0);
        EXPECT_EQ(steps.back(), 101);
        for (size_t i = 0; i + 2 < steps.size(); ++i)
            EXPECT_EQ(steps[i + 1] - steps[i], steps[1] - steps[0]);
        for (const Parameter& parameter : net.parameters()) {
            if (parameter.group != ParameterGroup::position_bias) continue;
            bool found = false;
            for (const auto& [name, tensor] : history.at(50))
                found = found || (name == parameter.name &&
                                  at::allclose(tensor, parameter.value.detach(), 1e-3, 1e-6));
            EXPECT_TRUE(found) << parameter.name;
        }
        EXPECT_TRUE(history.at(-1).empty());
    }
    EXPECT_EQ(history_steps(folder / "h").back(), 101);
}

TEST(TrainJob, KilledAndGoneOnWithIsTheSameRun) {
    const Scratch folder;
    (void)train_job(request(folder / "whole", 40), {});
    (void)train_job(request(folder / "parts", 20), {});
    // Ended at step 27 with nothing saved: lines up to there, a torn one, no checkpoint after 20.
    struct Killed {};
    JobControl control{.report =
                           [](const Progress& p) {
                               if (p.done == 27) throw Killed{};
                           },
                       .stop = {}};
    TrainRequest r;
    r.resume = (folder / "parts").string();
    r.until = 40;
    EXPECT_THROW((void)train_job(r, control), Killed);
    std::ofstream(folder / "parts" / "metrics.jsonl", std::ios::app) << "{\"step\": 28, \"lo";
    EXPECT_EQ(resolve_model(folder / "parts"), checkpoint_path(folder / "parts", 20));

    std::string warned;
    const WarningSink before = set_warning_sink([&](const std::string& text) { warned += text; });
    const TrainResult result = resume(folder / "parts", 40);
    static_cast<void>(set_warning_sink(before));
    EXPECT_EQ(result.step, 40);
    EXPECT_EQ(warned, (folder / "parts").string() + ": steps 21 to 27 were not saved and are lost");
    EXPECT_EQ(read_file(folder / "parts/log.txt").find("step 20 lost"), std::string::npos);
    const std::vector<nlohmann::json> a = repeatable(folder / "whole"),
                                      b = repeatable(folder / "parts");
    ASSERT_EQ(a.size(), 40u);
    ASSERT_EQ(b.size(), 40u);
    for (size_t i = 0; i < a.size(); ++i) EXPECT_EQ(a[i].dump(), b[i].dump());
    const Checkpoint x = read_checkpoint(folder / "whole"), y = read_checkpoint(folder / "parts");
    for (size_t i = 0; i < x.weights.size(); ++i)
        EXPECT_TRUE(at::equal(x.weights[i].second, y.weights[i].second)) << x.weights[i].first;
}

TEST(TrainJob, NoStepsWriteStepZero) {
    const Scratch folder;
    const TrainResult result = train_job(request(folder / "r", 0), {});
    EXPECT_EQ(fs::path(result.checkpoint).filename(), "step-00000000.safetensors");
    EXPECT_TRUE(result.metrics.empty());
    EXPECT_EQ(read_checkpoint(folder / "r").step, 0);
}

TEST(TrainJob, StoppedItSavesWhereItIs) {
    const Scratch folder;
    std::stop_source stop;
    JobControl control{.report =
                           [&](const Progress& p) {
                               EXPECT_EQ(p.total, 40);
                               if (p.done == 3) stop.request_stop();
                           },
                       .stop = stop.get_token()};
    const TrainResult result = train_job(request(folder / "r", 40), control);
    EXPECT_TRUE(result.interrupted);
    EXPECT_EQ(result.step, 3);
    EXPECT_EQ(result.steps_done, 3);
    EXPECT_EQ(result.target, 40);
    EXPECT_EQ(read_checkpoint(folder / "r").step, 3);
}

TEST(TrainJob, WhereItStopsDoesNotMoveTheSchedule) {
    const Scratch folder;
    (void)train_job(request(folder / "short", 6), {});
    (void)train_job(request(folder / "long", 12), {});
    const std::vector<nlohmann::json> a = repeatable(folder / "short"),
                                      b = repeatable(folder / "long");
    for (size_t i = 0; i < a.size(); ++i) EXPECT_EQ(a[i], b[i]);
}

TEST(TrainJob, ResumeTakesSettingsButNotANewModel) {
    const Scratch folder;
    (void)train_job(request(folder / "r", 2), {});
    TrainRequest r;
    r.resume = (folder / "r").string();
    r.until = 3;
    r.set = {"model.dim=64"};
    EXPECT_NE(error_of([&] { (void)train_job(r, {}); }).find("model.dim"), std::string::npos);
    r.set = {"train.learning_rate=0.5"};
    TrainResult result = train_job(r, {});
    EXPECT_EQ(result.steps_done, 1);
    EXPECT_EQ(result.target, 3);
    r.until.reset();
    r.set = {"train.steps=2"};  // the run is past it
    result = train_job(r, {});
    EXPECT_EQ(result.steps_done, 0);
    EXPECT_EQ(result.target, 2);
    EXPECT_EQ(result.step, 3);
    EXPECT_EQ(read_checkpoint(folder / "r").config.train.learning_rate, 0.5);
    EXPECT_EQ(load_config_file((folder / "r" / "config.json").string()).train.learning_rate, 0.5);
    const std::vector<nlohmann::json> events = read_events(folder / "r");
    ASSERT_FALSE(events.empty());
    EXPECT_EQ(events.back().at("kind"), "setting");
}

TEST(TrainJob, AConfigThatDoesNotFitLeavesNoFolder) {
    const Scratch folder;
    TrainRequest r = request(folder / "r", 2);
    r.config.data.source = "cifar10:" + (folder / "nowhere").string();
    EXPECT_NE(error_of([&] { (void)train_job(r, {}); }), "");
    EXPECT_FALSE(fs::exists(folder / "r"));
}

TEST(Estimate, GrowsWithTheBatch) {
    Config config = tiny_config();
    const Estimate small = estimate(config);
    config.train.micro_batch = 0;
    config.train.batch = 400;
    const Estimate large = estimate(config);
    EXPECT_EQ(small.parameters, large.parameters);
    EXPECT_GT(large.activations_bytes, 50 * small.activations_bytes);
    EXPECT_FALSE(small.words.empty());
}

// What validates turns unreadable once the run has begun; the pictures that were looked at before
// the first step stay prepared, the others are met unreadable in validation, when the weights have
// moved.
TEST(TrainJob, AnErrorInValidationKeepsWhatWasLearnt) {
    const Scratch folder;
    constexpr int kLearnt = 8, kValidated = 1200;  // more than are looked at before the first step
    const fs::path learnt = folder / "pictures" / "train", validated = folder / "pictures" / "val";
    fs::create_directories(learnt / "one");
    fs::create_directories(validated / "one");
    const auto name = [](int i) { return fmt::format("one/{}.png", i); };
    for (int i = 0; i < kLearnt; ++i)
        write_png(learnt / name(i), {8, 8, 1, std::vector<uint8_t>(64, 9)});
    for (int i = 0; i < kValidated; ++i)
        write_png(validated / name(i), {8, 8, 1, std::vector<uint8_t>(64, 9)});
    TrainRequest r = request(folder / "run", 10);
    r.config.data.source = "images:" + (folder / "pictures").string() + "?size=8&levels=4&gray=1";
    r.config.train.validate_every = 5;
    r.config.train.validate_examples = kValidated;
    const JobControl breaks{.report =
                                [&](const Progress& p) {
                                    if (p.done != 2) return;
                                    for (int i = 0; i < kValidated; ++i)
                                        std::ofstream(validated / name(i)) << "no picture";
                                },
                            .stop = {}};
    const std::string words = error_of([&] { static_cast<void>(train_job(r, breaks)); });
    EXPECT_NE(words.find("cannot be read"), std::string::npos) << words;
    EXPECT_EQ(summarize_run((folder / "run").string()).state, "failed");
    const auto events = read_events(folder / "run");
    ASSERT_EQ(events.size(), 1u);
    EXPECT_EQ(events[0].at("kind"), "error");
    EXPECT_EQ(events[0].at("detail").at("text"), words);
    EXPECT_EQ(checkpoint_steps(folder / "run"), std::vector<int64_t>{5});
    EXPECT_EQ(log_lines(folder / "run").size(), 5u);
}

}  // namespace
}  // namespace aft
