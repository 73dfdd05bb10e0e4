// A run that another process (here: another session) trains, followed as its folder grows.
#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <memory>
#include <thread>

#include "core/files.h"
#include "model/train/run_lock.h"
#include "tests/session/session_fixture.h"

namespace aft {
namespace {

TEST(SessionFollowing, FollowsARunThatAnotherOneTrains) {
    const Scratch scratch;
    auto owner = std::make_unique<TestSession>(new_run(scratch / "run", true));
    ASSERT_TRUE(wait_for([&] { return owner->status().saved_step >= 50; }));
    TestSession watcher(open_path(scratch / "run"));
    ASSERT_TRUE(wait_state(watcher, RunState::running));
    EXPECT_TRUE(watcher.status().following);
    EXPECT_TRUE(watcher.status().names_rates);
    EXPECT_FALSE(watcher.status().can_train);
    const int64_t first = watcher.status().step;
    ASSERT_TRUE(wait_step(watcher, first + 20));
    EXPECT_NE(answer(watcher, probe("bias")), nullptr);
    watcher.run().start();
    EXPECT_TRUE(wait_for(
        [&] { return watcher.status().message.find("another process") != std::string::npos; }));
    owner->run().stop();
    ASSERT_TRUE(wait_state(*owner, RunState::stopped));
    const int64_t last = owner->status().step;
    owner.reset();
    ASSERT_TRUE(wait_state(watcher, RunState::stopped));
    EXPECT_EQ(watcher.status().step, last);
    EXPECT_TRUE(watcher.status().can_train);
    watcher.run().step(1);
    ASSERT_TRUE(wait_step(watcher, last + 1));
}

TEST(SessionFollowing, TheStoredBiasesAreShownUntilTheFirstCheckpointComes) {
    const Scratch scratch;
    OpenRequest request = run_that_saves(scratch / "run", 1000);
    request.config->train.steps = 1000;
    TestSession owner(std::move(request));
    owner.run().step(20);
    ASSERT_TRUE(wait_step(owner, 20) && wait_state(owner, RunState::paused));
    TestSession watcher(open_path(scratch / "run"));
    ASSERT_TRUE(wait_state(watcher, RunState::running));
    const Status first = watcher.status();
    EXPECT_EQ(first.saved_step, -1);
    EXPECT_EQ(first.step, 20);
    EXPECT_EQ(first.layers.size(), 2u);
    EXPECT_EQ(first.task.loss_in_bits, owner.status().task.loss_in_bits);
    EXPECT_TRUE(has(first.message, "waiting for the first checkpoint")) << first.message;
    const FieldSetPtr before = answer(watcher, probe("bias"));
    ASSERT_NE(before, nullptr);
    const int64_t stored = before->fields.front().step;
    owner.run().step(300);
    ASSERT_TRUE(wait_step(owner, 320));
    const auto newer = [&] {
        const FieldSetPtr now = answer(watcher, probe("bias"));
        return now != nullptr && now->fields.front().step > stored;
    };
    EXPECT_TRUE(wait_for(newer));
    EXPECT_EQ(watcher.status().saved_step, -1);
}

TEST(SessionFollowing, FollowsARunThatIsResumedElsewhere) {
    const Scratch scratch;
    {
        TestSession first(new_run(scratch / "run"));
        first.run().step(20);
        ASSERT_TRUE(wait_step(first, 20) && wait_state(first, RunState::paused));
        first.run().stop();
        ASSERT_TRUE(wait_state(first, RunState::stopped));
    }
    {  // what a killed run leaves: the next one to train drops it
        std::ofstream log(scratch / "run/metrics.jsonl", std::ios::app);
        for (int step = 21; step <= 25; ++step) log << "{\"step\":" << step << ",\"loss\":9}\n";
    }
    TestSession watcher(open_path(scratch / "run"));
    ASSERT_TRUE(wait_state(watcher, RunState::ready));
    EXPECT_TRUE(watcher.status().can_train);
    EXPECT_EQ(watcher.curves()->step.size(), 25u);
    auto other = std::make_unique<TestSession>(open_path(scratch / "run"));
    ASSERT_TRUE(wait_state(*other, RunState::ready));
    other->run().step(30);
    ASSERT_TRUE(wait_for([&] { return watcher.status().following; }));
    EXPECT_FALSE(watcher.status().can_train);
    ASSERT_TRUE(wait_step(watcher, 50));
    EXPECT_EQ(watcher.curves()->step.size(), 50u);
    other->run().stop();
    ASSERT_TRUE(wait_state(*other, RunState::stopped));
    other.reset();
    ASSERT_TRUE(wait_state(watcher, RunState::stopped));
    EXPECT_TRUE(watcher.status().can_train);
}

TEST(SessionFollowing, ARunThatRestsIsWatchedWhileItsFolderIsGoneAndBack) {
    const Scratch scratch;
    const auto train = [&](const OpenRequest& request, int64_t steps) {
        TestSession session(request);
        ASSERT_TRUE(wait_state(session, RunState::ready) || session.status().step > 0);
        session.run().step(steps);
        ASSERT_TRUE(wait_for([&] { return session.status().state == RunState::paused; }));
        session.run().stop();
        ASSERT_TRUE(wait_state(session, RunState::stopped));
    };
    train(new_run(scratch / "run"), 20);
    TestSession watcher(open_path(scratch / "run"));
    ASSERT_TRUE(wait_state(watcher, RunState::ready));
    fs::rename(scratch / "run", scratch / "away");
    ASSERT_TRUE(wait_for([&] { return watcher.status().is_gone; }));
    EXPECT_FALSE(watcher.status().can_train);
    EXPECT_NE(watcher.status().message.find("is gone"), std::string::npos);
    EXPECT_EQ(watcher.status().error, "");
    std::ofstream(scratch / "away/metrics.jsonl", std::ios::app) << R"({"step":21,"loss":1})"
                                                                 << "\n";
    fs::create_directory(scratch / "run");  // as a copy begins
    std::this_thread::sleep_for(std::chrono::milliseconds(1200));
    EXPECT_TRUE(watcher.status().is_gone) << "its checkpoints are not there yet";
    fs::remove(scratch / "run");
    fs::rename(scratch / "away", scratch / "run");
    ASSERT_TRUE(wait_for([&] { return !watcher.status().is_gone; }));
    EXPECT_TRUE(watcher.status().can_train);
    EXPECT_NE(watcher.status().message.find("is there again; "), std::string::npos)
        << watcher.status().message;
    EXPECT_EQ(watcher.status().step, 20) << "of the weights";
    EXPECT_TRUE(wait_for([&] { return watcher.curves()->step.size() == 21; }));
    train(open_path(scratch / "run"), 10);
    ASSERT_TRUE(wait_for([&] { return watcher.status().step == 30; }))
        << watcher.status().step << watcher.status().message << watcher.status().error;
    EXPECT_TRUE(wait_for([&] { return watcher.status().can_train; }));
}

TEST(SessionFollowing, FollowsARewindOfTheOneThatTrains) {
    const Scratch scratch;
    OpenRequest request = new_run(scratch / "run");
    request.config->train.checkpoint_every = 20;
    TestSession owner(request);
    owner.run().step(60);
    ASSERT_TRUE(wait_step(owner, 60) && wait_state(owner, RunState::paused));
    TestSession watcher(open_path(scratch / "run"));
    ASSERT_TRUE(wait_for([&] { return watcher.status().saved_step == 60; }));
    owner.run().rewind(20);
    ASSERT_TRUE(wait_for([&] { return watcher.status().saved_step == 20; }));
    EXPECT_EQ(watcher.status().step, 20);
    EXPECT_EQ(watcher.curves()->step.size(), 20u) << "what came after left the curves";
    EXPECT_TRUE(watcher.status().following);
    owner.run().step(100);
    ASSERT_TRUE(wait_step(watcher, 120));
    EXPECT_EQ(watcher.curves()->step.size(), 120u);
    EXPECT_EQ(watcher.status().error, "");
}

// Another program's run that has logged and saved nothing: its loss is what it wrote, in nats.
TEST(SessionFollowing, AModelThatIsNotKnownHasNoUnit) {
    const Scratch scratch;
    fs::create_directories(scratch / "run/checkpoints");
    std::ofstream(scratch / "run/config.json") << R"({"name": "theirs"})";
    std::ofstream(scratch / "run/metrics.jsonl") << R"({"step":1,"loss":2.5})" << std::endl;
    const FileHandle lock = lock_run(scratch / "run");
    TestSession watcher(open_path(scratch / "run"));
    ASSERT_TRUE(wait_for([&] { return watcher.status().following && watcher.curves(); }));
    EXPECT_FALSE(watcher.status().task.loss_in_bits);
    EXPECT_FALSE(watcher.status().names_rates);
}

}  // namespace
}  // namespace aft
