// Which checkpoints of a run stay, what a kill leaves and is removed, and what is never written
// through a link.
#include "model/train/saves.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <random>

#include "core/check.h"
#include "core/files.h"
#include "model/jobs.h"
#include "model/train/history.h"
#include "model/train/loop.h"
#include "model/train/run_folder.h"
#include "tests/model/train/train_fixtures.h"

namespace aft::saves_test {
namespace {

using Steps = std::vector<int64_t>;

Config keeping(int64_t most) {
    Config config = tiny_config();
    config.train.keep_checkpoints = most;
    return config;
}

void save(RunFolder& run, int64_t step, SaveKind kind) {
    Checkpoint checkpoint;
    checkpoint.config = tiny_config();
    checkpoint.step = step;
    static_cast<void>(run.save(checkpoint, kind));
}

TEST(Saves, ByHandAndPinnedStayForGood) {
    const Scratch folder;
    RunFolder run(folder / "r", keeping(1));
    put(folder / "r" / "notes.json", R"({"pinned": [30]})");
    for (const int64_t step : {10, 20, 30, 40, 50})
        save(run, step, step == 20 ? SaveKind::by_hand : SaveKind::scheduled);
    EXPECT_EQ(checkpoint_steps(folder / "r"), (Steps{20, 30, 50}));
}

// The kind lies on the disk: another process, which saves the same step again, keeps it.
TEST(Saves, AKindIsKnownToALaterProcessAndNeverBecomesLess) {
    const Scratch folder;
    const fs::path path = folder / "r";
    {
        RunFolder run(path, keeping(1));
        save(run, 10, SaveKind::by_hand);
    }
    RunFolder run(path);
    run.resume_from(10, keeping(1));
    save(run, 10, SaveKind::scheduled);
    run.keep_save(10, SaveKind::by_time);
    EXPECT_EQ(save_kind(path, 10), SaveKind::by_hand);
    for (const int64_t step : {20, 30}) save(run, step, SaveKind::scheduled);
    EXPECT_EQ(checkpoint_steps(path), (Steps{10, 30}));
    run.keep_save(30, SaveKind::by_hand);
    save(run, 40, SaveKind::scheduled);
    EXPECT_EQ(checkpoint_steps(path), (Steps{10, 30, 40}));
    put(save_kind_path(path, 40), "mine\n");
    for (const int64_t step : {50, 60}) save(run, step, SaveKind::scheduled);
    EXPECT_EQ(checkpoint_steps(path), (Steps{10, 30, 40, 60}));
}

TEST(Saves, OneByTimePushesNoScheduledOneOut) {
    const Scratch folder;
    for (const int64_t keep : {2, 0}) {
        const fs::path path = folder / std::to_string(keep);
        RunFolder run(path, keeping(keep));
        for (const int64_t step : {10, 20}) save(run, step, SaveKind::scheduled);
        for (const int64_t step : {21, 22, 23}) save(run, step, SaveKind::by_time);
        EXPECT_EQ(checkpoint_steps(path), (Steps{10, 20, 23}));
        EXPECT_FALSE(fs::exists(save_kind_path(path, 22)));
        run.keep_save(23, SaveKind::scheduled);  // the run ended there
        save(run, 25, SaveKind::by_time);
        save(run, 30, SaveKind::scheduled);
        EXPECT_EQ(checkpoint_steps(path), keep == 0 ? (Steps{10, 20, 23, 30}) : (Steps{23, 30}));
    }
}

TEST(Saves, OfThoseBeforeAChangeTheNewestStays) {
    const Scratch folder;
    RunFolder run(folder / "r", keeping(2));
    for (const int64_t step : {10, 20}) save(run, step, SaveKind::before_change);
    EXPECT_EQ(checkpoint_steps(folder / "r"), (Steps{10, 20}));
    for (const int64_t step : {30, 40, 50}) save(run, step, SaveKind::scheduled);
    EXPECT_EQ(checkpoint_steps(folder / "r"), (Steps{20, 40, 50}));
}

TEST(Saves, TheBestStaysUntilABetterOneAndPushesNoScheduledOneOut) {
    const Scratch folder;
    RunFolder run(folder / "r", keeping(2));
    save(run, 10, SaveKind::best_scheduled);
    for (const int64_t step : {20, 30, 40}) save(run, step, SaveKind::scheduled);
    EXPECT_EQ(checkpoint_steps(folder / "r"), (Steps{10, 30, 40}));
    for (const int64_t step : {41, 42}) save(run, step, SaveKind::best);
    EXPECT_EQ(checkpoint_steps(folder / "r"), (Steps{30, 40, 42}));
    save(run, 50, SaveKind::best_scheduled);
    EXPECT_EQ(checkpoint_steps(folder / "r"), (Steps{30, 40, 50}));
    save(run, 60, SaveKind::best_scheduled);
    EXPECT_EQ(checkpoint_steps(folder / "r"), (Steps{40, 50, 60}));
    save(run, 61, SaveKind::best);
    run.keep_save(61, SaveKind::scheduled);  // the run ended there
    EXPECT_EQ(save_kind(folder / "r", 61), SaveKind::best_scheduled);
}

TEST(Saves, NotesThatCannotBeReadRemoveNothing) {
    const Scratch folder;
    RunFolder run(folder / "r", keeping(1));
    put(folder / "r" / "notes.json", R"({"pinned": [10)");
    for (const int64_t step : {10, 20}) save(run, step, SaveKind::scheduled);
    EXPECT_EQ(checkpoint_steps(folder / "r"), (Steps{10, 20}));
    EXPECT_NE(file_text(folder / "r" / "log.txt").find("notes.json"), std::string::npos);
}

TEST(Saves, ARewindForgetsKindsAndABranchKeepsThem) {
    const Scratch folder;
    RunFolder run(folder / "r", keeping(1));
    save(run, 10, SaveKind::scheduled);
    save(run, 20, SaveKind::by_hand);
    const fs::path branch = run.go_back(10);
    EXPECT_EQ(save_kind(branch, 20), SaveKind::by_hand);
    EXPECT_FALSE(fs::exists(save_kind_path(folder / "r", 20)));
}

// A process that has ended: no process has its number for now.
pid_t dead_process() {
    const pid_t child = fork();
    if (child == 0) _exit(0);
    int status = 0;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    return child;
}

TEST(Saves, WhatAKillLeftIsRemovedAndNothingElse) {
    const Scratch folder;
    const fs::path path = folder / "r";
    {
        RunFolder run(path, tiny_config());
        save(run, 10, SaveKind::scheduled);
    }
    make_folder(path / "history");
    const std::string dead = fmt::format(".tmp-{}-0", dead_process()),
                      alive = fmt::format(".tmp-{}-0", getppid());
    const std::vector<fs::path> ours{path / ("config.json" + dead),
                                     path / "metrics.jsonl.kept",
                                     path / ("events.jsonl.kept" + dead),
                                     path / ("checkpoints/step-00000020.safetensors" + dead),
                                     path / ("checkpoints/step-00000020.kind" + dead),
                                     path / "checkpoints/step-00000020.kind",
                                     path / ("history/step-00000012.safetensors" + dead)};
    const std::vector<fs::path> others{path / ("config.json" + alive),
                                       path / ("mine.txt" + dead),
                                       path / "config.json.tmp-x-0",
                                       path / ("checkpoints/step-00000020.safetensors" + alive),
                                       path / ("checkpoints/best.safetensors" + dead),
                                       path / "checkpoints/step-00000030.tmp"};
    for (const auto* files : {&ours, &others})
        for (const fs::path& file : *files) put(file, "x");
    fs::create_directories(path / "branches/.until-00000020.partial/checkpoints");
    RunFolder run(path);
    EXPECT_TRUE(fs::exists(ours.front())) << "locking alone writes nothing";
    run.resume_from(10, tiny_config());
    for (const fs::path& file : ours) EXPECT_FALSE(fs::exists(file)) << file;
    for (const fs::path& file : others) EXPECT_TRUE(fs::exists(file)) << file;
    EXPECT_FALSE(fs::exists(path / "branches/.until-00000020.partial"));
    EXPECT_TRUE(fs::exists(checkpoint_path(path, 10)));
}

TEST(Saves, NothingIsWrittenThroughALink) {
    for (const char* name : {"metrics.jsonl", "events.jsonl", "log.txt", "config.json", "run.lock",
                             "checkpoints", "history", "branches", "metrics.jsonl.kept",
                             "events.jsonl.kept", "checkpoints/step-00000010.kind"}) {
        const Scratch folder;
        const fs::path path = folder / "r", target = folder / "target";
        {
            RunFolder run(path, tiny_config());
            run.event("note", 0, {{"text", "x"}});
            save(run, 10, SaveKind::by_time);
            StepReport report;
            report.step = 10;
            run.log(report);
        }
        for (const char* made : {"history", "branches"}) make_folder(path / made);
        for (const char* made : {"metrics.jsonl.kept", "events.jsonl.kept"}) put(path / made, "x");
        fs::rename(path / name, target);
        const std::string before = fs::is_directory(target) ? "" : file_text(target);
        fs::create_symlink(target, path / name);
        const std::string error = error_of([&] {
            RunFolder run(path);
            run.resume_from(10, tiny_config());
            run.keep_save(10, SaveKind::by_hand);
        });
        EXPECT_NE(error.find(name), std::string::npos) << error;
        EXPECT_NE(error.find("symbolic link"), std::string::npos) << error;
        EXPECT_TRUE(fs::is_directory(target) || file_text(target) == before) << name;
    }
}

// A link that comes while training runs.
TEST(Saves, ALinkThatComesLaterIsRefusedToo) {
    const Scratch folder;
    put(folder / "target", "mine");
    RunFolder run(folder / "r", tiny_config());
    fs::create_symlink(folder / "target", folder / "r/metrics.jsonl");
    fs::create_symlink(folder / "target", checkpoint_path(folder / "r", 10));
    EXPECT_NE(error_of([&] { run.log({}); }).find("symbolic link"), std::string::npos);
    const auto saving = [&] { save(run, 10, SaveKind::scheduled); };
    EXPECT_NE(error_of(saving).find("symbolic link"), std::string::npos);
    EXPECT_EQ(file_text(folder / "target"), "mine");
}

TEST(Saves, ALinkWhereALogIsPreparedIsRefused) {
    const Scratch folder;
    put(folder / "target", "mine");
    RunFolder run(folder / "r", tiny_config());
    run.event("note", 5, {});
    fs::create_symlink(folder / "target", folder / "r/events.jsonl.kept");
    const std::string error = error_of([&] { static_cast<void>(run.go_back(1)); });
    EXPECT_NE(error.find("events.jsonl.kept: is a symbolic link"), std::string::npos) << error;
    EXPECT_EQ(file_text(folder / "target"), "mine");
}

// Stored steps of a run of `last` steps that saves every 7, killed at random steps; seed 0: not at
// all.
Steps moments(const fs::path& folder, int64_t last, int64_t frames, uint64_t seed) {
    const Net net(tiny_config().model, 1);
    std::mt19937_64 random(seed);
    int64_t saved = 0;
    while (true) {
        const int64_t most = 3 * frames;
        const int64_t end =
            seed > 0 ? std::min(last, saved + 1 + static_cast<int64_t>(random() % most)) : last;
        for (const int64_t step : history_steps(folder))
            if (step > saved) fs::remove(history_path(folder, step));
        History history(folder, frames, last / 2);
        history.record(saved, net.parameters());
        for (int64_t step = saved + 1; step <= end; ++step) {
            history.record(step, net.parameters());
            if (step % 7 != 0) continue;
            history.record(step, net.parameters(), /*always=*/true);
            saved = step;
        }
        if (end == last) {
            history.record(last, net.parameters(), /*always=*/true);
            return history_steps(folder);
        }
    }
}

TEST(History, AfterKillsItIsThatOfAnUndisturbedRun) {
    for (uint64_t seed = 1; seed < 9; ++seed) {
        const Scratch folder;
        const int64_t frames = 5 + static_cast<int64_t>(seed % 8);
        const int64_t last = 60 + 23 * static_cast<int64_t>(seed);
        const Steps whole = moments(folder / "whole", last, frames, 0);
        EXPECT_EQ(moments(folder / "killed", last, frames, seed), whole)
            << frames << " frames, " << last << " steps";
        EXPECT_LE(static_cast<int64_t>(whole.size()), frames);
        EXPECT_GE(static_cast<int64_t>(whole.size()), frames - 1);
    }
}

// By the clock: some steps are saved on the way, and the run is the same.
TEST(TrainJob, SavesByTimeChangeNothingElse) {
    const Scratch folder;
    TrainRequest request;
    request.config = tiny_config();
    request.config.train.checkpoint_every = 0;
    request.config.train.save_minutes = 0;
    request.out = (folder / "plain").string();
    static_cast<void>(train_job(request, {}));
    EXPECT_EQ(checkpoint_steps(folder / "plain"), (Steps{40}));
    request.config.train.save_minutes = 1e-7;
    request.out = (folder / "timed").string();
    Steps seen;
    const JobControl control{.report =
                                 [&](const Progress& p) {
                                     if (p.done == 17) seen = checkpoint_steps(folder / "timed");
                                 },
                             .stop = {}};
    static_cast<void>(train_job(request, control));
    EXPECT_EQ(seen, (Steps{17}));
    EXPECT_EQ(checkpoint_steps(folder / "timed"), (Steps{40}));
    EXPECT_FALSE(fs::exists(save_kind_path(folder / "timed", 40)));
    EXPECT_EQ(history_steps(folder / "timed/history"), history_steps(folder / "plain/history"));
    const Checkpoint a = read_checkpoint(folder / "plain"), b = read_checkpoint(folder / "timed");
    for (size_t i = 0; i < a.weights.size(); ++i)
        EXPECT_TRUE(at::equal(a.weights[i].second, b.weights[i].second)) << a.weights[i].first;
}

// A resume with another rate keeps the step that it began from.
TEST(TrainJob, AResumeThatChangesARateKeepsItsStep) {
    const Scratch folder;
    TrainRequest request;
    request.config = keeping(1);
    request.config.train.checkpoint_every = 2;
    request.out = (folder / "r").string();
    request.until = 3;
    static_cast<void>(train_job(request, {}));
    TrainRequest resume;
    resume.resume = request.out;
    resume.until = 9;
    resume.set = {"train.clip=5"};
    static_cast<void>(train_job(resume, {}));
    EXPECT_EQ(checkpoint_steps(folder / "r"), (Steps{3, 9}));
    resume.until = 12;
    resume.set = {"train.log_every=2"};
    static_cast<void>(train_job(resume, {}));
    EXPECT_EQ(checkpoint_steps(folder / "r"), (Steps{3, 12}));
}

}  // namespace
}  // namespace aft::saves_test
