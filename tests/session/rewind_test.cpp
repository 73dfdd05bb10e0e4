// Rewinding: back to a saved step in the same run folder, what came after kept as a branch, and the
// same numbers again from there.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/session/session_fixture.h"

namespace aft {
namespace {

namespace fs = std::filesystem;
using Lines = std::vector<std::string>;

// Lines of a log without what depends on the clock.
Lines log_of(const std::filesystem::path& run) {
    Lines lines;
    std::ifstream in(run / "metrics.jsonl");
    for (std::string line; std::getline(in, line);) {
        nlohmann::json parsed = nlohmann::json::parse(line);
        parsed.erase("timing");
        lines.push_back(parsed.dump());
    }
    return lines;
}

[[nodiscard]] bool go_back(Session& session, int64_t step) {
    const int64_t before = session.status().rewinds;
    session.run().rewind(step);
    const bool done = wait_for([&] { return session.status().rewinds > before; });
    EXPECT_TRUE(done) << session.status().message;
    return done;
}

TEST(SessionRewind, ContinuesBitForBitAndKeepsWhatCameAfter) {
    const Scratch scratch;
    TestSession session(run_that_saves(scratch / "run", 20));
    ASSERT_TRUE(wait_state(session, RunState::ready));
    ASSERT_TRUE(train_to(session, 60));
    const Lines first = log_of(scratch / "run");
    ASSERT_EQ(first.size(), 60u);

    ASSERT_TRUE(go_back(session, 20));
    const Status status = session.status();
    EXPECT_EQ(status.state, RunState::paused);
    EXPECT_EQ(status.step, 20);
    EXPECT_EQ(status.saved_step, 20);
    EXPECT_EQ(session.saved_steps(), (std::vector<int64_t>{20}));
    EXPECT_EQ(session.curves()->step.back(), 20);
    EXPECT_LE(session.history_steps().back(), 20);
    EXPECT_EQ(log_of(scratch / "run"), Lines(first.begin(), first.begin() + 20));
    EXPECT_EQ(std::filesystem::path(status.branch), scratch / "run/branches/until-00000060");
    EXPECT_EQ(log_of(status.branch), first);
    EXPECT_EQ(session.curves()->events.back().kind, "rewind");

    ASSERT_TRUE(train_to(session, 60));
    EXPECT_EQ(log_of(scratch / "run"), first);
    EXPECT_EQ(log_of(status.branch), first) << "the branch must not change any more";
    EXPECT_EQ(session.saved_steps(), (std::vector<int64_t>{20, 40, 60}));
    ASSERT_TRUE(go_back(session, 40));
    EXPECT_EQ(std::filesystem::path(session.status().branch),
              scratch / "run/branches/until-00000060-2");
}

TEST(SessionRewind, ABranchIsARunThatContinues) {
    const Scratch scratch;
    std::string branch;
    {
        TestSession session(run_that_saves(scratch / "run", 20));
        ASSERT_TRUE(wait_state(session, RunState::ready));
        ASSERT_TRUE(train_to(session, 50));  // the last ten are not saved yet
        ASSERT_TRUE(go_back(session, 20));
        branch = session.status().branch;
    }
    TestSession session(open_path(branch));
    ASSERT_TRUE(wait_state(session, RunState::ready));
    EXPECT_EQ(session.status().step, 50);
    EXPECT_EQ(session.saved_steps(), (std::vector<int64_t>{40, 50}));
    ASSERT_TRUE(train_to(session, 52));
    EXPECT_EQ(log_of(branch).size(), 52u);
    EXPECT_EQ(log_of(scratch / "run").size(), 20u);
}

TEST(SessionRewind, AlsoOfARunThatWasOnlyOpenedAndOfOneThatRuns) {
    const Scratch scratch;
    {
        TestSession session(run_that_saves(scratch / "run", 10));
        ASSERT_TRUE(wait_state(session, RunState::ready));
        ASSERT_TRUE(train_to(session, 30));
    }
    TestSession session(open_path(scratch / "run"));
    ASSERT_TRUE(wait_state(session, RunState::ready));
    ASSERT_TRUE(go_back(session, 10));
    EXPECT_EQ(session.status().step, 10);
    session.run().start();
    ASSERT_TRUE(wait_step(session, 25));
    ASSERT_TRUE(go_back(session, 20));
    EXPECT_EQ(session.status().state, RunState::paused);
    EXPECT_EQ(session.status().step, 20);
    EXPECT_EQ(log_of(scratch / "run").size(), 20u);
}

TEST(SessionRewind, AStepThatIsNotSavedIsRefusedAndNothingChanges) {
    const Scratch scratch;
    TestSession session(run_that_saves(scratch / "run", 20));
    ASSERT_TRUE(wait_state(session, RunState::ready));
    ASSERT_TRUE(train_to(session, 30));
    session.run().rewind(7);
    ASSERT_TRUE(wait_for(
        [&] { return session.status().message.find("step 7 is not saved") != std::string::npos; }));
    EXPECT_NE(session.status().message.find("saved are: 20"), std::string::npos);
    EXPECT_EQ(session.status().state, RunState::paused);
    EXPECT_EQ(session.status().step, 30);
    EXPECT_EQ(log_of(scratch / "run").size(), 30u);
    EXPECT_FALSE(std::filesystem::exists(scratch / "run/branches"));
}

[[nodiscard]] bool is_saved(const Session& session, const fs::path& run) {
    return fs::exists(
        run / fmt::format("checkpoints/step-{:08}.safetensors", session.status().saved_step));
}

// As on a full disk: a log cannot be written anew, because a folder is in the way.
TEST(SessionRewind, WhatCannotBeWrittenLeavesTheRunAsItWas) {
    const Scratch scratch;
    const fs::path run = scratch / "run", blocked = run / "events.jsonl.kept";
    TestSession session(run_that_saves(scratch / "run", 20));
    ASSERT_TRUE(wait_state(session, RunState::ready));
    ASSERT_TRUE(train_to(session, 60));
    fs::create_directory(blocked);
    session.run().rewind(20);
    ASSERT_TRUE(wait_for([&] {
        return session.status().message.find("events.jsonl.kept") != std::string::npos;
    })) << session.status().message;
    EXPECT_EQ(session.status().step, 60);
    EXPECT_EQ(session.saved_steps(), (std::vector<int64_t>{20, 40, 60}));
    EXPECT_TRUE(is_saved(session, run));
    EXPECT_EQ(log_of(run).size(), 60u);
    EXPECT_FALSE(fs::exists(run / "branches"));
    fs::remove(blocked);
    ASSERT_TRUE(go_back(session, 20));
    EXPECT_EQ(log_of(run).size(), 20u);
}

// The last thing that a rewind writes fails, when the later steps lie in the branch already.
TEST(SessionRewind, AFileThatLiesInTheBranchIsNotCalledSaved) {
    const Scratch scratch;
    const fs::path run = scratch / "run", history = run / "history";
    OpenRequest request = run_that_saves(scratch / "run", 20);
    request.config->train.steps = 60;
    request.config->train.history_frames = 100;  // every step
    TestSession session(request);
    ASSERT_TRUE(wait_state(session, RunState::ready));
    ASSERT_TRUE(train_to(session, 50));
    session.run().save();
    ASSERT_TRUE(wait_for([&] { return session.status().saved_step == 50; }));
    fs::remove_all(history);
    std::ofstream(history.string()) << "in the way";
    session.run().rewind(20);
    ASSERT_TRUE(wait_for([&] {
        return session.status().message.find("history") != std::string::npos;
    })) << session.status().message;
    EXPECT_EQ(session.status().step, 20);
    EXPECT_EQ(session.status().saved_step, 20);
    EXPECT_TRUE(is_saved(session, run));
    EXPECT_EQ(session.status().state, RunState::ready);
    EXPECT_EQ(session.status().rewinds, 0);
    EXPECT_TRUE(wait_for([&] { return session.curves()->step.back() == 20; }));
    fs::remove(history);
    session.run().save();
    ASSERT_TRUE(wait_for([&] { return session.status().message.starts_with("saved "); }));
    EXPECT_TRUE(fs::exists(session.status().message.substr(6))) << session.status().message;
    ASSERT_TRUE(train_to(session, 30));
    EXPECT_EQ(log_of(run).size(), 30u);
    EXPECT_TRUE(std::is_sorted(session.curves()->step.begin(), session.curves()->step.end()));
}

// Saving the end of what is left behind thins the folder; the step asked for must stay.
TEST(SessionRewind, TheStepGoneBackToIsSavedAfterwards) {
    const Scratch scratch;
    TestSession session(run_that_saves(scratch / "run", 10, 2));
    ASSERT_TRUE(wait_state(session, RunState::ready));
    ASSERT_TRUE(train_to(session, 25));
    ASSERT_EQ(session.saved_steps(), (std::vector<int64_t>{10, 20}));
    ASSERT_TRUE(go_back(session, 10));
    EXPECT_EQ(session.saved_steps(), (std::vector<int64_t>{10}));
    ASSERT_TRUE(train_to(session, 12));
}

// Steps that come a second time, with other weights: no answer of the first time may be shown.
TEST(SessionRewind, AnswersAboutTheFirstTimeNoLongerHold) {
    const Scratch scratch;
    TestSession session(run_that_saves(scratch / "run", 10));
    ASSERT_TRUE(wait_state(session, RunState::ready));
    ASSERT_TRUE(train_to(session, 30));
    ProbeRequest request = probe("bias", 1);
    request.step = 20;
    const FieldSetPtr before = answer(session, request);
    ASSERT_NE(before, nullptr);
    EXPECT_EQ(before->fields[0].step, 20);
    ASSERT_TRUE(go_back(session, 10));
    session.run().set("train.learning_rate", "0.03");
    ASSERT_TRUE(train_to(session, 30));
    const FieldSetPtr after = answer(session, request, nullptr, false);
    ASSERT_NE(after, nullptr);
    EXPECT_EQ(after->fields[0].step, 20);
    EXPECT_NE(after->fields[0].values, before->fields[0].values);
}

}  // namespace
}  // namespace aft
