// What goes wrong while a session trains: nothing is lost, and it resumes when the cause is gone.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <numeric>

#include "core/caught.h"
#include "core/files.h"
#include "core/images/image.h"
#include "core/warnings.h"
#include "model/train/own_files.h"
#include "model/train/run_folder.h"
#include "tests/session/session_fixture.h"

namespace aft {
namespace {

std::vector<int64_t> logged_steps(const fs::path& log) {
    std::vector<int64_t> steps;
    std::ifstream in(log);
    for (std::string line; std::getline(in, line);)
        steps.push_back(nlohmann::json::parse(line).at("step"));
    return steps;
}

std::vector<int64_t> first_steps(int64_t count) {
    std::vector<int64_t> steps(static_cast<size_t>(count));
    std::iota(steps.begin(), steps.end(), 1);
    return steps;
}

bool can_create_files(const fs::path& folder) {
    const fs::path file = folder / "created";
    const bool created = std::ofstream(file).is_open();
    std::error_code ignored;
    fs::remove(file, ignored);
    return created;
}

// A trained run whose `folders` take no new file while this lives. Its user owns it, so existing
// files can still be opened for writing. Permissions refuse nothing to root: `ordinary_user` makes
// root an ordinary user, who gets the run, in the meantime.
class ReadOnlyRun {
  public:
    ReadOnlyRun(const fs::path& run, std::vector<fs::path> folders, bool ordinary_user = true)
        : folders_(std::move(folders)) {
        {
            TestSession session(new_run(run));
            EXPECT_TRUE(train_to(session, 3));
            session.run().stop();
            EXPECT_TRUE(wait_state(session, RunState::stopped));
        }
        fs::permissions(run.parent_path(), fs::perms(0755));
        for (const fs::path& folder : folders_) fs::permissions(folder, fs::perms(0555));
        is_root_ = ordinary_user && can_create_files(folders_[0]);
        if (!is_root_) return;
        constexpr uid_t kNobody = 65534;
        EXPECT_EQ(::chown(run.c_str(), kNobody, kNobody), 0);
        for (const fs::path& entry : fs::recursive_directory_iterator(run))
            EXPECT_EQ(::chown(entry.c_str(), kNobody, kNobody), 0);
        EXPECT_EQ(::seteuid(kNobody), 0);
    }
    ~ReadOnlyRun() {
        if (is_root_) {
            EXPECT_EQ(::seteuid(0), 0);
        }
        for (const fs::path& folder : folders_) fs::permissions(folder, fs::perms(0755));
    }
    ReadOnlyRun(const ReadOnlyRun&) = delete;
    ReadOnlyRun& operator=(const ReadOnlyRun&) = delete;

  private:
    std::vector<fs::path> folders_;
    bool is_root_ = false;
};

TEST(SessionErrors, ARunInAReadOnlyFolderIsLookedAtAndNotTrained) {
    const Scratch scratch;
    const auto check = [](const fs::path& run, const std::vector<fs::path>& folders) {
        SCOPED_TRACE(folders[0].string());
        const ReadOnlyRun read_only(run, folders);
        TestSession session(open_path(run));
        ASSERT_TRUE(wait_state(session, RunState::ready));
        EXPECT_FALSE(session.status().can_train);
        EXPECT_EQ(session.status().message,
                  folders[0].string() +
                      " is read-only: its run can be looked at, not trained; copy it to "
                      "where you may write to train on");
        ASSERT_TRUE(FileHandle(::open((run / "run.lock").c_str(), O_RDWR | O_CLOEXEC)).get() >= 0);
        const std::string problem = error_words([&] { const RunFolder folder(run); }, plain_words);
        EXPECT_NE(problem.find(folders[0].string() + ": this folder is read-only"),
                  std::string::npos)
            << problem;
    };
    const fs::path all = scratch / "all", saves = scratch / "saves";
    check(all, {all, all / "checkpoints"});
    check(saves, {saves / "checkpoints"});
}

// Root may write where permissions refuse others; what counts is whether a file can be created.
TEST(SessionErrors, ARunIsTrainedWhereFilesCanBeCreated) {
    const Scratch scratch;
    const fs::path run = scratch / "run";
    const ReadOnlyRun read_only(run, {run, run / "checkpoints"}, /*ordinary_user=*/false);
    TestSession session(open_path(run));
    ASSERT_TRUE(wait_state(session, RunState::ready));
    EXPECT_EQ(session.status().can_train, can_create_files(run));
}

TEST(SessionErrors, ARunThatIsDeletedMeanwhileIsGone) {
    const Scratch scratch;
    const fs::path run = scratch / "run";
    {
        TestSession session(new_run(run));
        ASSERT_TRUE(train_to(session, 3));
        session.run().stop();
        ASSERT_TRUE(wait_state(session, RunState::stopped));
    }
    TestSession session(open_path(run));
    ASSERT_TRUE(wait_state(session, RunState::ready));
    fs::remove_all(run);
    session.run().step(1);
    ASSERT_TRUE(wait_for([&] { return !session.status().error.empty(); }));
    EXPECT_NE(session.status().error.find("the folder of this run is gone"), std::string::npos)
        << session.status().error;
}

TEST(SessionErrors, WhatIsTakenBackWhileItOpensLeavesNothing) {
    const Scratch scratch;
    int traces = 0;  // a busy machine may let some of them begin
    for (int i = 0; i < 10; ++i) {
        const fs::path run = scratch / std::to_string(i);
        {
            const TestSession session(new_run(run.string(), true));
        }
        traces += fs::exists(run) ? 1 : 0;
    }
    EXPECT_LT(traces, 10);
}

// Deleted while it is trained into: what is written in between makes the folder anew, but no run.
TEST(SessionErrors, AFolderThatWasEmptiedIsGone) {
    const Scratch scratch;
    const fs::path run = scratch / "run";
    TestSession session(new_run(run.string(), true));
    ASSERT_TRUE(wait_step(session, 3));
    session.run().pause();
    ASSERT_TRUE(wait_state(session, RunState::paused));
    EXPECT_FALSE(session.status().is_gone);
    const fs::path aside = scratch / "aside";
    fs::rename(run, aside);
    fs::create_directory(run);
    std::ofstream(run / "metrics.jsonl") << "";
    session.run().step(1);
    session.run().save();
    ASSERT_TRUE(wait_for([&] { return session.status().is_gone; })) << session.status().error;
    const std::string words = session.status().error;
    EXPECT_NE(words.find("the folder of this run is gone"), std::string::npos) << words;
    EXPECT_NE(words.find("Save elsewhere"), std::string::npos) << words;
    EXPECT_EQ(words.find("disk space"), std::string::npos) << words;
    session.run().save(scratch / "copy.safetensors", 7);
    ASSERT_TRUE(wait_for([&] { return session.status().copy.ticket == 7; }));
    EXPECT_EQ(session.status().copy.problem, "");
    EXPECT_TRUE(fs::exists(scratch / "copy.safetensors"));
    fs::remove_all(run);
    fs::rename(aside, run);
    ASSERT_TRUE(wait_for([&] { return !session.status().is_gone; })) << "it is put back";
}

// As on a full disk: the step is trained, its line cannot be written.
TEST(SessionErrors, WhatCannotBeWrittenPausesAndNothingIsLost) {
    const Scratch scratch;
    const fs::path log = scratch / "run/metrics.jsonl", aside = scratch / "aside";
    TestSession session(new_run(scratch / "run", true));
    ASSERT_TRUE(wait_step(session, 3));
    session.run().pause();
    ASSERT_TRUE(wait_state(session, RunState::paused));
    const int64_t before = session.status().step;
    fs::rename(log, aside);
    fs::create_directory(log);
    session.run().start();
    ASSERT_TRUE(wait_for([&] { return !session.status().error.empty(); }));
    EXPECT_NE(session.status().error.find("metrics.jsonl"), std::string::npos)
        << session.status().error;
    EXPECT_EQ(session.status().state, RunState::paused);
    EXPECT_TRUE(session.status().can_resume);
    EXPECT_EQ(session.status().step, before + 1);
    session.run().save();  // the weights are, though the log is not
    ASSERT_TRUE(wait_for([&] { return session.status().saved_step == before + 1; }));
    fs::remove(log);
    fs::rename(aside, log);
    session.run().save();
    ASSERT_TRUE(wait_for([&] { return session.status().error.empty(); }));
    session.run().step(3);
    ASSERT_TRUE(wait_step(session, before + 4));
    EXPECT_EQ(session.status().error, "");
    EXPECT_EQ(logged_steps(log), first_steps(before + 4));
    ASSERT_TRUE(wait_for([&] { return session.curves()->step.size() == size_t(before) + 4; }))
        << "the row that came late is shown, too: " << session.curves()->step.size();
}

// A step that is not logged may still have a frame of the history due.
TEST(SessionErrors, AFolderThatWasMovedAwayIsNotMadeAnewAndIsTrainedInAgain) {
    const Scratch scratch;
    const fs::path run = scratch / "run", aside = scratch / "aside";
    OpenRequest request = new_run(run.string());
    request.config->train.log_every = 100;
    request.config->train.steps = request.config->train.history_frames = 8;  // one of every step
    TestSession session(request);
    ASSERT_TRUE(train_to(session, 3));
    session.run().save();
    ASSERT_TRUE(wait_for([&] { return session.status().saved_step == 3; }));
    fs::rename(run, aside);
    session.run().step(1);
    ASSERT_TRUE(wait_for([&] { return session.status().is_gone; })) << session.status().error;
    EXPECT_FALSE(fs::exists(run)) << "else it could not be put back";
    EXPECT_EQ(session.status().state, RunState::paused);
    EXPECT_TRUE(session.status().can_resume);
    EXPECT_EQ(session.status().saved_step, -1);
    fs::rename(aside, run);
    ASSERT_TRUE(wait_for([&] { return !session.status().is_gone; }));
    EXPECT_EQ(session.status().saved_step, 3);
    EXPECT_EQ(session.saved_steps(), std::vector<int64_t>{3});
    session.run().step(2);
    ASSERT_TRUE(wait_step(session, 6));
    session.run().save();
    ASSERT_TRUE(wait_for([&] { return session.status().saved_step == 6; }));
    EXPECT_EQ(session.status().error, "");
}

// More held-out pictures than are looked at before the first step: the others are read when they
// are needed.
constexpr int kHeldOut = 1200;

fs::path small_pictures(const Scratch& scratch) {
    const fs::path folder = scratch / "pictures";
    for (const auto& [part, count] : {std::pair{"train", 4}, std::pair{"val", kHeldOut}}) {
        fs::create_directories(folder / part / "one");
        for (int i = 0; i < count; ++i) {
            Image picture{8, 8, 1, std::vector<uint8_t>(64, static_cast<uint8_t>(60 * (i % 4)))};
            write_png(folder / part / "one" / fmt::format("{}.png", i), picture);
        }
    }
    return folder;
}

// The weights have moved when validation fails: the step is one of the run's like any other.
TEST(SessionErrors, AnErrorInValidationLosesNoLogLine) {
    const Scratch scratch;
    const fs::path pictures = small_pictures(scratch), log = scratch / "run/metrics.jsonl";
    OpenRequest request = new_run(scratch / "run");
    request.config->data.source = "images:" + pictures.string() + "?size=8&levels=4&gray=1";
    request.config->train.validate_every = 10;
    request.config->train.validate_examples = kHeldOut;
    request.config->train.log_every = 3;  // a line of step 10 is due to validation alone
    TestSession session(request);
    session.run().step(9);
    ASSERT_TRUE(wait_step(session, 9));
    ASSERT_TRUE(wait_state(session, RunState::paused));
    const fs::path aside = scratch / "aside";
    const fs::path held_out = pictures / "val/one";
    fs::copy(held_out, aside);
    for (const auto& file : fs::directory_iterator(aside))
        std::ofstream(held_out / file.path().filename()) << "no picture";
    session.run().start();
    ASSERT_TRUE(wait_for([&] { return !session.status().error.empty(); }));
    EXPECT_NE(session.status().error.find("cannot be read"), std::string::npos)
        << session.status().error;
    EXPECT_TRUE(session.status().can_resume);
    EXPECT_EQ(session.status().step, 10);
    EXPECT_EQ(session.curves()->events.back().kind, "error");
    EXPECT_EQ(session.curves()->events.back().step, 11) << "the step that did not come";
    EXPECT_EQ(logged_steps(log), (std::vector<int64_t>{3, 6, 9, 10}));
    EXPECT_EQ(session.curves()->step.back(), 10);
    for (const auto& file : fs::directory_iterator(aside))
        fs::copy(file, held_out, fs::copy_options::overwrite_existing);
    session.run().step(10);
    ASSERT_TRUE(wait_step(session, 20));
    ASSERT_TRUE(wait_state(session, RunState::paused));
    EXPECT_EQ(session.status().error, "");
    EXPECT_EQ(logged_steps(log), (std::vector<int64_t>{3, 6, 9, 10, 12, 15, 18, 20}));
}

// A stop is answered before its state is seen: what an earlier one met does not count.
TEST(SessionErrors, EveryStopHasItsOwnAnswer) {
    const Scratch scratch;
    const fs::path run = scratch / "run", aside = scratch / "aside";
    const fs::path checkpoints = run / "checkpoints";
    TestSession session(new_run(run));
    session.run().step(3);
    ASSERT_TRUE(wait_step(session, 3));
    ASSERT_TRUE(wait_state(session, RunState::paused));
    fs::rename(checkpoints, aside);
    std::ofstream(checkpoints) << "no folder";
    const auto stop = [&] {
        session.run().stop();
        EXPECT_TRUE(wait_for([&] { return session.status().state != RunState::stopping; }));
        return session.status();
    };
    for (int i = 0; i < 2; ++i) {
        const Status failed = stop();
        EXPECT_EQ(failed.state, RunState::paused);
        EXPECT_NE(failed.error.find("checkpoints"), std::string::npos) << failed.error;
    }
    fs::remove(checkpoints);
    fs::rename(aside, checkpoints);
    const Status saved = stop();
    EXPECT_EQ(saved.state, RunState::stopped);
    EXPECT_EQ(saved.saved_step, 3);
    EXPECT_EQ(saved.error, "");
}

// Nobody asked for the stop, so nobody reads the status: the reason is a warning.
TEST(SessionErrors, WhatCannotBeSavedAtTheEndIsTold) {
    const Scratch scratch;
    const fs::path checkpoints = scratch / "run/checkpoints";
    std::string warned;  // by the trainer's thread, which has ended when it is read
    const WarningSink before = set_warning_sink([&](const std::string& text) { warned += text; });
    {
        TestSession session(new_run(scratch / "run"));
        session.run().step(3);
        EXPECT_TRUE(wait_step(session, 3));
        EXPECT_TRUE(wait_state(session, RunState::paused));
        fs::remove_all(checkpoints);
        std::ofstream(checkpoints) << "no folder";
    }
    static_cast<void>(set_warning_sink(before));
    EXPECT_NE(warned.find("step 3"), std::string::npos) << warned;
    EXPECT_NE(warned.find(checkpoints.string()), std::string::npos) << warned;
}

TEST(SessionErrors, AtTheEndAFolderThatIsGoneIsNamed) {
    const Scratch scratch;
    std::string warned;
    const WarningSink before = set_warning_sink([&](const std::string& text) { warned += text; });
    {
        TestSession session(new_run(scratch / "run"));
        session.run().step(3);
        EXPECT_TRUE(wait_step(session, 3));
        EXPECT_TRUE(wait_state(session, RunState::paused));
        fs::remove_all(scratch / "run");
    }
    static_cast<void>(set_warning_sink(before));
    EXPECT_NE(warned.find("is gone"), std::string::npos) << warned;
    EXPECT_EQ(warned.find("disk space"), std::string::npos) << warned;
}

}  // namespace
}  // namespace aft
