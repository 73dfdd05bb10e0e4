// A session of position biases alone: a file, a run at every saved step, and one that another
// program writes meanwhile.
#include <gtest/gtest.h>

#include <optional>

#include "model/train/run_lock.h"
#include "tests/model/checkpoints/maps_file.h"
#include "tests/session/session_fixture.h"

namespace aft {
namespace {

ProbeRequest bias_at(int64_t step, int64_t layer = 0) {
    ProbeRequest request = probe("bias", layer);
    request.step = step;
    return request;
}

TEST(SessionMaps, AFileIsShownAndNotTrained) {
    const Scratch scratch;
    put_maps(scratch / "a.safetensors", maps_description(mixed_maps(), 7), mixed_tensors());
    TestSession session(open_path(scratch / "a.safetensors"));
    ASSERT_TRUE(wait_state(session, RunState::ready));
    const Status status = session.status();
    EXPECT_FALSE(status.can_train);
    EXPECT_TRUE(status.task.is_bias_alone);
    EXPECT_EQ(status.step, 7);
    EXPECT_EQ(status.target_step, 7);
    ASSERT_EQ(status.layers.size(), 5u);
    EXPECT_EQ(status.layers[1].parameters, 72);
    EXPECT_TRUE(status.not_finite.empty());
    for (int64_t layer = 0; layer < 5; ++layer) {
        std::string error;
        EXPECT_NE(answer(session, bias_at(-1, layer), &error), nullptr) << error;
    }
    std::string error;
    EXPECT_EQ(answer(session, probe("predictions"), &error), nullptr);
    EXPECT_NE(error.find("position biases alone"), std::string::npos) << error;
}

TEST(SessionMaps, ARunIsShownAtEverySavedStep) {
    const Scratch scratch;
    put_maps_run(scratch / "run");
    for (int64_t i = 0; i < 3; ++i)
        put_maps_step(scratch / "run", 10 * i, 0.25F + static_cast<float>(i));
    TestSession session(open_path(scratch / "run"));
    ASSERT_TRUE(wait_state(session, RunState::ready));
    EXPECT_EQ(session.status().step, 20);
    EXPECT_EQ(session.status().name, "run");
    EXPECT_EQ(session.history_steps(), (std::vector<int64_t>{0, 10, 20}));
    EXPECT_EQ(session.curves()->columns.at("bias_norm.layer.1").size(), 3u);
    EXPECT_EQ(session.status().layers[1].bias_norm, 2.5);
    for (int64_t i = 0; i < 3; ++i) {
        const FieldSetPtr fields = answer(session, bias_at(10 * i));
        ASSERT_NE(fields, nullptr);
        EXPECT_EQ(fields->fields.front().step, 10 * i);
        EXPECT_EQ(fields->fields.front().values[0], 0.25F + static_cast<float>(i));
    }
}

TEST(SessionMaps, ARunOfAnotherProgramIsFollowed) {
    const Scratch scratch;
    put_maps_run(scratch / "run");
    std::optional<FileHandle> lock(lock_run(scratch / "run"));
    TestSession session(open_path(scratch / "run"));
    ASSERT_TRUE(wait_state(session, RunState::running));
    EXPECT_TRUE(session.status().following);
    put_maps_step(scratch / "run", 0, 0.25F);
    ASSERT_TRUE(wait_for([&] { return session.status().saved_step == 0; }));
    EXPECT_NE(answer(session, bias_at(-1)), nullptr);
    put_maps_step(scratch / "run", 50, 5);
    ASSERT_TRUE(wait_step(session, 50));
    ASSERT_TRUE(wait_for([&] { return session.status().saved_step == 50; }));
    const FieldSetPtr fields = answer(session, bias_at(-1), nullptr, /*stale_ok=*/false);
    ASSERT_NE(fields, nullptr);
    EXPECT_EQ(fields->fields.front().values[0], 5);
    EXPECT_EQ(session.status().target_step, 0) << "nothing says for how long it trains";
    EXPECT_FALSE(session.status().can_train);
    lock.reset();
    ASSERT_TRUE(wait_state(session, RunState::stopped));
    EXPECT_EQ(session.status().target_step, 50);
    EXPECT_FALSE(session.status().can_train);
    EXPECT_EQ(session.status().error, "");
}

// Its log is ahead of its last checkpoint, and nothing says for how long it trains.
TEST(SessionMaps, AFollowedRunIsAtTheEndOfItsLog) {
    const Scratch scratch;
    put_maps_run(scratch / "run");
    put_maps_step(scratch / "run", 850, 1);
    std::ofstream(scratch / "run/metrics.jsonl", std::ios::app)
        << nlohmann::json{{"step", 857}, {"loss", 1.5}}.dump() << "\n";
    const FileHandle lock = lock_run(scratch / "run");
    TestSession session(open_path(scratch / "run"));
    ASSERT_TRUE(wait_state(session, RunState::running));
    EXPECT_EQ(session.status().step, 857);
    EXPECT_EQ(session.status().loss, 1.5) << "of its log, as the step";
    EXPECT_EQ(session.status().saved_step, 850) << "the maps are of it";
    EXPECT_EQ(session.status().target_step, 0);
    put_maps_step(scratch / "run", 900, 1);
    ASSERT_TRUE(wait_for([&] { return session.status().saved_step == 900; }));
    EXPECT_EQ(session.status().target_step, 0);
}

TEST(SessionMaps, AFollowedRunThatIsDeletedIsGone) {
    const Scratch scratch;
    put_maps_run(scratch / "run");
    put_maps_step(scratch / "run", 5, 1);
    const FileHandle lock = lock_run(scratch / "run");
    TestSession session(open_path(scratch / "run"));
    ASSERT_TRUE(wait_state(session, RunState::running));
    std::filesystem::remove_all(scratch / "run");
    ASSERT_TRUE(wait_state(session, RunState::stopped));
    EXPECT_NE(session.status().message.find("is gone: it was deleted or moved"), std::string::npos)
        << session.status().message;
    EXPECT_FALSE(session.status().can_train);
}

}  // namespace
}  // namespace aft
