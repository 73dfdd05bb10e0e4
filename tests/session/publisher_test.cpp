// When the weights of a running training are published, on a clock that the test moves, and what a
// publication copies.
#include "model/session/publisher.h"

#include <gtest/gtest.h>

#include <chrono>

#include "model/train/trainer.h"
#include "tests/model/mirror_config.h"
#include "tests/model/test_device.h"

namespace aft {
namespace {

using std::chrono::milliseconds;

Config published_at_each_step() {
    Config config = mirror_config();
    config.train.publish_every = 1;
    return config;
}

// A tiny training whose steps and publications take as long as the test says.
class PublishedTraining {
  public:
    PublishedTraining() {
        channels_.wake = [this] { now_ += cost_; };  // once a publication
    }
    // Trains one step that takes `step_ms`; returns whether it is published, which takes `cost_ms`.
    [[nodiscard]] bool step(int step_ms, int cost_ms) {
        EXPECT_EQ(trainer_.step().failure, "");
        now_ += milliseconds(step_ms);
        cost_ = milliseconds(cost_ms);
        publisher_.publish_weights_when_due(trainer_);
        const SnapshotPtr latest = channels_.snapshot.latest();
        return latest != nullptr && latest->step == trainer_.steps_done();
    }
    [[nodiscard]] const Checkpoint& published() const {
        return *channels_.snapshot.latest()->checkpoint;
    }
    [[nodiscard]] const Parameters& parameters() const { return trainer_.net().parameters(); }

  private:
    session::Clock::time_point now_ = session::Clock::time_point() + std::chrono::hours(1);
    session::Clock::duration cost_{};
    session::SessionChannels channels_;
    session::Publisher publisher_{channels_, [this] { return now_; }};
    Trainer trainer_{published_at_each_step(), test_device()};
};

TEST(Publisher, PublishesWeightsFourTimesASecondAtMost) {
    PublishedTraining training;
    EXPECT_TRUE(training.step(1, 1)) << "the first";
    EXPECT_FALSE(training.step(1, 1));
    EXPECT_FALSE(training.step(248, 1)) << "after 249 ms";
    EXPECT_TRUE(training.step(1, 1)) << "after 250 ms";
    EXPECT_FALSE(training.step(249, 1));
    EXPECT_TRUE(training.step(1, 1));
}

TEST(Publisher, SpendsTwoPercentOfTheTimeAtMost) {
    PublishedTraining training;
    EXPECT_TRUE(training.step(1, 20));
    EXPECT_FALSE(training.step(990, 20)) << "20 ms in 990 ms are more than 2 %";
    EXPECT_TRUE(training.step(20, 30)) << "20 ms in 1010 ms are less";
    EXPECT_FALSE(training.step(1490, 30));
    EXPECT_TRUE(training.step(20, 30));
}

TEST(Publisher, APublicationThatWasHeldUpCountsAsTwiceTheOneBefore) {
    PublishedTraining training;
    EXPECT_TRUE(training.step(1, 5));
    EXPECT_FALSE(training.step(240, 5));
    EXPECT_TRUE(training.step(20, 3000)) << "held up by another program";
    EXPECT_FALSE(training.step(490, 5));
    EXPECT_TRUE(training.step(20, 5)) << "as after one of 10 ms";
    EXPECT_FALSE(training.step(240, 5));
    EXPECT_TRUE(training.step(20, 5)) << "as after one of 5 ms";
}

TEST(Publisher, APublicationCopiesTheWeightsAlone) {
    PublishedTraining training;
    ASSERT_TRUE(training.step(1, 1));
    const Checkpoint& published = training.published();
    const Parameters& parameters = training.parameters();
    ASSERT_EQ(published.weights.size(), parameters.size());
    for (size_t i = 0; i < parameters.size(); ++i) {
        const auto& [name, copy] = published.weights[i];
        EXPECT_EQ(name, parameters[i].name);
        EXPECT_EQ(copy.nbytes(), parameters[i].value.nbytes()) << name;
        EXPECT_EQ(copy.storage().nbytes(), copy.nbytes()) << name;
        EXPECT_TRUE(copy.equal(parameters[i].value.cpu())) << name;
    }
    EXPECT_TRUE(published.optimizer.empty());
    EXPECT_TRUE(published.training.is_null());
}

}  // namespace
}  // namespace aft
