// Training that ends before its target step: at a loss, or after a time.
#include <algorithm>

#include "model/jobs/train.h"
#include "tests/session/session_fixture.h"

namespace aft {
namespace {

bool is_logged(const Session& session, const std::string& kind) {
    const auto curves = session.curves();
    return std::any_of(curves->events.begin(), curves->events.end(),
                       [&](const Event& event) { return event.kind == kind; });
}

TEST(StopRules, TheSmoothedLossEndsTrainingWhereItIsLowEnough) {
    const Scratch scratch;
    TestSession session(new_run(scratch / "run"));
    session.run().set("train.until_loss", "100");
    session.run().start();
    ASSERT_TRUE(wait_state(session, RunState::stopped));
    EXPECT_EQ(session.status().step, 20) << "not before it can be smoothed";
    EXPECT_EQ(session.status().saved_step, 20);
    EXPECT_NE(session.status().message.find("stopped and saved at step 20: the loss is"),
              std::string::npos)
        << session.status().message;
    EXPECT_TRUE(is_logged(session, "stop"));
    session.run().start();
    ASSERT_TRUE(wait_step(session, 40));
    ASSERT_TRUE(wait_state(session, RunState::stopped));
    EXPECT_EQ(session.status().step, 40) << "it counts anew";
    session.run().set("train.until_loss", "0");
    session.run().step(30);
    ASSERT_TRUE(wait_state(session, RunState::paused));
    EXPECT_EQ(session.status().step, 70);
}

TEST(StopRules, AConditionThatIsMetAtAPauseStopsAndSaves) {
    const Scratch scratch;
    TestSession session(new_run(scratch / "run"));
    session.run().set("train.until_loss", "100");
    session.run().step(20);
    ASSERT_TRUE(wait_state(session, RunState::stopped));
    EXPECT_EQ(session.status().step, 20);
    EXPECT_TRUE(wait_for([&] { return session.status().saved_step == 20; }));
    EXPECT_TRUE(is_logged(session, "stop"));
}

TEST(StopRules, TheValidationLossEndsTraining) {
    const Scratch scratch;
    TestSession session(new_run(scratch / "run"));
    session.run().set("train.until_validation", "1e-3");
    ASSERT_TRUE(train_to(session, 45));
    session.run().set("train.until_validation", "100");
    session.run().start();
    ASSERT_TRUE(wait_state(session, RunState::stopped));
    EXPECT_EQ(session.status().step, 60) << "at the next validation";
    EXPECT_NE(session.status().message.find("validation loss"), std::string::npos);
}

TEST(StopRules, MinutesOfTrainingEndIt) {
    const Scratch scratch;
    TestSession session(new_run(scratch / "run"));
    ASSERT_TRUE(train_to(session, 3));
    session.run().set("train.until_minutes", "1e-7");
    session.run().start();
    ASSERT_TRUE(wait_state(session, RunState::stopped));
    EXPECT_EQ(session.status().step, 4);
    EXPECT_EQ(session.status().saved_step, 4);
    EXPECT_NE(session.status().message.find("minutes of training are over"), std::string::npos);
}

TEST(StopRules, TheTrainJobEndsThereAndSaysWhy) {
    const Scratch scratch;
    TrainRequest request;
    request.config = small_run();
    request.out = scratch / "run";
    request.config.train.own["until_loss"] = 100.0;
    std::string said;
    request.say = [&](const std::string& words) { said += words; };
    const TrainResult result = train_job(request, {});
    EXPECT_EQ(result.step, 20);
    EXPECT_FALSE(result.interrupted);
    EXPECT_NE(said.find("stopped and saved at step 20: the loss is"), std::string::npos) << said;
    EXPECT_TRUE(std::filesystem::exists(result.checkpoint));
}

}  // namespace
}  // namespace aft
