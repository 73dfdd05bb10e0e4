// No work is lost: saves by hand, by time and before a change; files that another program replaces.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "model/session/watched_files.h"
#include "tests/session/session_fixture.h"

namespace aft::session_saves_test {
namespace {

namespace fs = std::filesystem;
using Steps = std::vector<int64_t>;

[[nodiscard]] bool is_saved(const Session& session, int64_t step) {
    const Steps saved = session.saved_steps();
    return std::find(saved.begin(), saved.end(), step) != saved.end();
}

[[nodiscard]] bool wait_message(const Session& session, const std::string& words) {
    const bool there =
        wait_for([&] { return session.status().message.find(words) != std::string::npos; });
    EXPECT_TRUE(there) << session.status().message;
    return there;
}

fs::path checkpoint_of(const fs::path& run, int64_t step) {
    return run / fmt::format("checkpoints/step-{:08}.safetensors", step);
}

TEST(SessionSaves, OnesByHandAreNeverPruned) {
    const Scratch scratch;
    {
        TestSession session(run_that_saves(scratch / "run", 10, 1));
        ASSERT_TRUE(wait_state(session, RunState::ready));
        ASSERT_TRUE(train_to(session, 13));
        session.run().save();
        ASSERT_TRUE(wait_for([&] { return is_saved(session, 13); }));
        ASSERT_TRUE(train_to(session, 20));
        session.run().save();  // one that is saved already
        ASSERT_TRUE(wait_message(session, "step-00000020"));
        ASSERT_TRUE(train_to(session, 45));
        EXPECT_EQ(session.saved_steps(), (Steps{13, 20, 40}));
    }
    TestSession session(open_path(scratch / "run"));
    ASSERT_TRUE(wait_state(session, RunState::ready));
    ASSERT_TRUE(train_to(session, 60));
    EXPECT_EQ(session.saved_steps(), (Steps{13, 20, 60}));
}

TEST(SessionSaves, OnesThatAreKeptAreNeverPruned) {
    const Scratch scratch;
    TestSession session(run_that_saves(scratch / "run", 10, 1));
    ASSERT_TRUE(wait_state(session, RunState::ready));
    ASSERT_TRUE(train_to(session, 10));
    session.run().keep(10);  // a scheduled one
    ASSERT_TRUE(train_to(session, 15));
    session.run().keep(12);  // not saved, nor the one it rests at
    session.run().keep(15);  // not saved yet
    ASSERT_TRUE(train_to(session, 45));
    EXPECT_EQ(session.saved_steps(), (Steps{10, 15, 40}));
}

TEST(SessionSaves, AChangeThatCanBreakTheRunSavesFirst) {
    const Scratch scratch;
    TestSession session(run_that_saves(scratch / "run", 1000, 1));
    ASSERT_TRUE(wait_state(session, RunState::ready));
    ASSERT_TRUE(train_to(session, 5));
    session.run().set("train.log_every", "2");  // harmless
    session.run().set("train.clip", "-3");      // refused
    ASSERT_TRUE(wait_message(session, "-3"));
    EXPECT_EQ(session.status().saved_step, -1);
    const std::pair<const char*, const char*> changes[] = {{"train.learning_rate", "0.5"},
                                                           {"train.bias_learning_rate_scale", "20"},
                                                           {"train.weight_decay", "0.2"},
                                                           {"train.bias_weight_decay", "0.1"},
                                                           {"train.clip", "5"},
                                                           {"model.dropout", "0.2"}};
    int64_t step = 5;
    for (const auto& [key, value] : changes) {
        ASSERT_TRUE(train_to(session, ++step));
        session.run().set(key, value);
        ASSERT_TRUE(wait_message(session, fmt::format("step {} is saved", step))) << key;
        EXPECT_EQ(session.status().saved_step, step);
        ASSERT_TRUE(is_saved(session, step)) << key;
    }
    EXPECT_LE(session.saved_steps().size(), 2u) << "they must not fill the disk";
}

// However many scheduled ones follow, until it is seen that the change was a bad one.
TEST(SessionSaves, TheStepBeforeAChangeCanBeGoneBackTo) {
    const Scratch scratch;
    TestSession session(run_that_saves(scratch / "run", 1, 1));
    ASSERT_TRUE(wait_state(session, RunState::ready));
    ASSERT_TRUE(train_to(session, 8));
    session.run().set("train.clip", "0");
    ASSERT_TRUE(wait_message(session, "step 8 is saved"));
    ASSERT_TRUE(train_to(session, 14));
    EXPECT_EQ(session.saved_steps(), (Steps{8, 14}));
    session.run().rewind(8);
    ASSERT_TRUE(wait_for([&] { return session.status().rewinds == 1; }));
    EXPECT_EQ(session.status().step, 8);
}

TEST(SessionSaves, APauseIsSavedInTimeToo) {
    const Scratch scratch;
    OpenRequest request = run_that_saves(scratch / "run", 0, 3);
    request.config->train.save_minutes = 0.02;
    TestSession session(request);
    ASSERT_TRUE(wait_state(session, RunState::ready));
    ASSERT_TRUE(train_to(session, 3));
    ASSERT_TRUE(wait_for([&] { return session.status().saved_step == 3; }));
    EXPECT_EQ(session.status().state, RunState::paused);
    EXPECT_TRUE(fs::exists(checkpoint_of(scratch / "run", 3)));
}

// The weights of another step of the same model in the place of a file, as `cp` and `mv` do it.
void replace(const fs::path& file, const fs::path& by) {
    fs::copy_file(by, file.string() + ".new");
    fs::rename(file.string() + ".new", file);
}

TEST(SessionFiles, AReplacedMomentIsReadAgain) {
    const Scratch scratch;
    const fs::path run = scratch / "run";
    TestSession session(run_that_saves(scratch / "run", 10, 0));
    ASSERT_TRUE(wait_state(session, RunState::ready));
    ASSERT_TRUE(train_to(session, 30));
    ProbeRequest request = probe("gates");
    request.step = 10;
    request.tokens.assign(64, 1);
    const FieldSetPtr before = answer(session, request);
    ASSERT_NE(before, nullptr);
    replace(checkpoint_of(run, 10), checkpoint_of(run, 20));
    ASSERT_TRUE(wait_message(session, "step-00000010.safetensors was replaced on disk"));
    const FieldSetPtr after = answer(session, request, nullptr, false);
    ASSERT_NE(after, nullptr);
    EXPECT_NE(after->fields[0].values, before->fields[0].values);
    ASSERT_TRUE(train_to(session, 40)) << "training continues";
    session.run().save();
    ASSERT_TRUE(wait_message(session, "saved"));
    replace(checkpoint_of(run, 20), checkpoint_of(run, 30));
    ASSERT_TRUE(wait_message(session, "step-00000020.safetensors was replaced on disk"))
        << "it alone: the run's own saves are not others'";
}

TEST(SessionFiles, AReplacedModelIsReadAgainOrTold) {
    const Scratch scratch;
    const fs::path run = scratch / "run", model = scratch / "model.safetensors",
                   broken = scratch / "broken";
    {
        TestSession session(run_that_saves(scratch / "run", 10, 0));
        ASSERT_TRUE(wait_state(session, RunState::ready));
        ASSERT_TRUE(train_to(session, 20));
    }
    fs::copy_file(checkpoint_of(run, 10), model);
    TestSession session(open_path(model.string()));
    ASSERT_TRUE(wait_state(session, RunState::ready));
    const FieldSetPtr before = answer(session, probe("bias"));
    ASSERT_NE(before, nullptr);
    replace(model, checkpoint_of(run, 20));
    ASSERT_TRUE(wait_message(session, "replaced on disk and read again"));
    EXPECT_EQ(session.status().step, 20);
    const FieldSetPtr after = answer(session, probe("bias"), nullptr, false);
    ASSERT_NE(after, nullptr);
    EXPECT_NE(after->fields[0].values, before->fields[0].values);
    std::ofstream(broken) << "no model";
    replace(model, broken);
    ASSERT_TRUE(wait_message(session, "cannot be read"));
    EXPECT_EQ(session.status().state, RunState::ready);
    EXPECT_EQ(answer(session, probe("bias"), nullptr, false)->fields[0].values,
              after->fields[0].values);
}

// Deleted and written again, as a copy over a slow network does it.
TEST(SessionFiles, AModelThatComesBackIsReadAgain) {
    const Scratch scratch;
    const fs::path run = scratch / "run", model = scratch / "model.safetensors";
    {
        TestSession session(run_that_saves(scratch / "run", 10, 0));
        ASSERT_TRUE(wait_state(session, RunState::ready));
        ASSERT_TRUE(train_to(session, 20));
    }
    fs::copy_file(checkpoint_of(run, 10), model);
    session::WatchedFiles files;
    files.watch(model.string(), /*may_return=*/true);
    auto now = session::WatchedFiles::Clock::now();
    const auto look = [&] { return files.take_replaced(now += std::chrono::seconds(3)); };
    EXPECT_TRUE(look().empty());
    fs::remove(model);
    EXPECT_TRUE(look().empty()) << "gone is not replaced";
    fs::copy_file(checkpoint_of(run, 20), model);
    EXPECT_EQ(look(), std::vector<std::string>{model.string()});
}

}  // namespace
}  // namespace aft::session_saves_test
