// Run folders that are not whole: a damaged newest checkpoint, no checkpoint at all, no files at
// all. What can be seen is seen, and what is missing is named.
#include <gtest/gtest.h>

#include <fstream>

#include "core/caught.h"
#include "model/checkpoints/checkpoint.h"
#include "model/jobs/summary.h"
#include "tests/session/session_fixture.h"

namespace aft {
namespace {

class DamagedRun : public ::testing::Test {
  protected:
    // Trained to step 10, saved at 5 and 10, with a history of its biases.
    void SetUp() override {
        TestSession session(run_that_saves(run_, 5));
        ASSERT_TRUE(train_to(session, 10));
        session.run().stop();
        ASSERT_TRUE(wait_state(session, RunState::stopped));
        ASSERT_EQ(session.saved_steps(), (std::vector<int64_t>{5, 10}));
    }
    [[nodiscard]] std::string saved(int64_t step) const {
        return fmt::format("{}/checkpoints/step-{:08}.safetensors", run_, step);
    }
    Scratch scratch_;
    const std::string run_ = scratch_ / "run";
};

TEST_F(DamagedRun, TheCheckpointBeforeIsOpenedAndTheDamagedOneIsNamed) {
    fs::resize_file(saved(10), 3000);
    EXPECT_EQ(error_words([&] { check_model(run_); }), "");
    const std::string words = error_words([&] { (void)read_checkpoint(run_); });
    EXPECT_TRUE(has(words, saved(10)) && has(words, "before it, " + saved(5))) << words;
    TestSession session(open_path(run_));
    ASSERT_TRUE(wait_state(session, RunState::ready));
    const Status status = session.status();
    EXPECT_EQ(status.saved_step, 5);
    EXPECT_TRUE(status.can_train);
    EXPECT_EQ(status.error, "");
    EXPECT_TRUE(has(status.message, "step 5 is the last that can be read")) << status.message;
    EXPECT_TRUE(has(status.message, saved(10))) << status.message;
    EXPECT_NE(answer(session, probe("bias")), nullptr);
    // Looked at again while it rests: still not tried, and nothing changes.
    EXPECT_FALSE(wait_for([&] { return session.status().state != RunState::ready; }, 1.5));
    EXPECT_TRUE(has(session.status().message, saved(10))) << session.status().message;
}

// Half copied, as by a slow copy from elsewhere: named, then read when it is whole.
TEST_F(DamagedRun, ACheckpointThatComesDamagedIsReadWhenItIsWhole) {
    {
        TestSession other(open_path(run_));
        ASSERT_TRUE(wait_state(other, RunState::ready));
        ASSERT_TRUE(train_to(other, 15));
        other.run().stop();
        ASSERT_TRUE(wait_state(other, RunState::stopped));
    }
    const std::string whole = run_ + "/whole", part = run_ + "/part";
    fs::rename(saved(15), whole);
    fs::copy_file(whole, part);
    fs::resize_file(part, 3000);
    TestSession session(open_path(run_));
    ASSERT_TRUE(wait_state(session, RunState::ready));
    fs::rename(part, saved(15));
    ASSERT_TRUE(wait_for([&] { return has(session.status().message, saved(15)); }))
        << session.status().message;
    EXPECT_EQ(session.status().state, RunState::ready);
    EXPECT_EQ(session.status().step, 10) << "not that of the log, of which there are no weights";
    EXPECT_EQ(session.status().saved_step, 10);
    EXPECT_TRUE(session.status().can_train);
    EXPECT_NE(answer(session, probe("bias")), nullptr);
    fs::rename(whole, saved(15));
    EXPECT_TRUE(wait_for([&] { return session.status().saved_step == 15; }))
        << session.status().message;
    EXPECT_EQ(session.status().step, 15);
}

TEST_F(DamagedRun, WhereNoneCanBeReadTheNewestIsNamed) {
    for (const int64_t step : {5, 10}) fs::resize_file(saved(step), 3000);
    EXPECT_TRUE(has(error_words([&] { check_model(run_); }), saved(10)));
    TestSession session(open_path(run_));
    ASSERT_TRUE(wait_state(session, RunState::error));
    EXPECT_TRUE(has(session.status().error, saved(10))) << session.status().error;
}

TEST_F(DamagedRun, WithoutCheckpointsItIsOpenedForLooking) {
    fs::remove_all(run_ + "/checkpoints");
    TestSession session(open_path(run_));
    ASSERT_TRUE(wait_state(session, RunState::ready));
    const Status status = session.status();
    EXPECT_FALSE(status.can_train);
    EXPECT_EQ(status.step, 10);
    EXPECT_EQ(status.layers.size(), 2u);
    EXPECT_TRUE(has(status.message, "no checkpoint is left of this run")) << status.message;
    EXPECT_EQ(session.curves()->step.size(), 10u);
    const std::vector<int64_t> moments = session.history_steps();
    ASSERT_FALSE(moments.empty());
    ProbeRequest request = probe("bias");
    request.step = moments.back();
    std::string error;
    const FieldSetPtr fields = answer(session, request, &error);
    ASSERT_NE(fields, nullptr) << error;
    EXPECT_EQ(fields->fields.front().step, moments.back());
    for (const int64_t step : {moments.front(), moments.back(), int64_t{-1}}) {
        ProbeRequest whole = probe("keys");
        whole.step = step;
        EXPECT_EQ(answer(session, whole, &error), nullptr) << step;
        EXPECT_TRUE(has(error, "checkpoint")) << error;
    }
    CompletionRequest lower_half;
    lower_half.tokens.assign(64, 0);
    lower_half.unknown.assign(64, 0);
    std::fill(lower_half.unknown.begin() + 32, lower_half.unknown.end(), uint8_t{1});
    session.completions().start(lower_half);
    std::shared_ptr<const Completion> done;
    ASSERT_TRUE(wait_for([&] {
        done = session.completions().latest();
        return done != nullptr && done->done;
    }));
    EXPECT_TRUE(has(done->error, "no checkpoint is left")) << done->error;
    session.run().start();
    EXPECT_TRUE(wait_for([&] { return has(session.status().message, "cannot be trained"); }));
}

// Nothing of a run, its settings alone, and settings that are none.
TEST_F(DamagedRun, AFolderWithoutWeightsAndCurvesSaysWhatIsMissing) {
    const std::string bare = scratch_ / "bare";
    fs::create_directories(bare);
    const auto error_of_bare = [&] {
        TestSession session(open_path(bare));
        EXPECT_TRUE(wait_state(session, RunState::error));
        return session.status().error;
    };
    EXPECT_TRUE(has(error_of_bare(), bare));
    fs::copy_file(run_ + "/config.json", bare + "/config.json");
    const std::string no_checkpoint = error_of_bare();
    EXPECT_TRUE(has(no_checkpoint, bare + ": this run has no checkpoint")) << no_checkpoint;
    std::ofstream(bare + "/metrics.jsonl") << "\0\1 not a row\n{}\n[[[[";
    const std::string no_rows = error_of_bare();
    EXPECT_TRUE(has(no_rows, bare)) << no_rows;
}

// A checkpoint that somebody has deleted is not said to be saved.
TEST_F(DamagedRun, AnErrorNamesNoStepThatIsNotOnTheDisk) {
    TestSession session(open_path(run_));
    ASSERT_TRUE(wait_state(session, RunState::ready));
    EXPECT_EQ(session.status().saved_step, 10);
    fs::remove(saved(10));
    fs::rename(run_ + "/metrics.jsonl", run_ + "/aside");
    fs::create_directory(run_ + "/metrics.jsonl");  // the next step cannot be logged
    session.run().step(1);
    ASSERT_TRUE(wait_for([&] { return !session.status().error.empty(); }));
    EXPECT_EQ(session.status().saved_step, 5) << session.status().error;
}

}  // namespace
}  // namespace aft
