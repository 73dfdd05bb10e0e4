// train.freeze: what it names stays as it is, bit for bit, and nothing else does.
#include <ATen/ATen.h>

#include <map>

#include "model/checkpoints/checkpoint.h"
#include "model/checkpoints/run_paths.h"
#include "tests/session/session_fixture.h"

namespace aft {
namespace {

// Saved by hand at the step where training rests.
std::map<std::string, at::Tensor> saved_weights(Session& session) {
    const int64_t step = session.status().step;
    session.run().save();
    EXPECT_TRUE(wait_for([&] { return session.status().saved_step == step; }));
    std::map<std::string, at::Tensor> weights;
    const auto file = checkpoint_path(session.status().path, step);
    for (const auto& [name, value] : read_checkpoint(file.string()).weights) weights[name] = value;
    return weights;
}

bool is_any(const std::string& name, const std::vector<std::string>& parts) {
    for (const std::string& part : parts)
        if (name.find(part) != std::string::npos) return true;
    return false;
}

TEST(Freeze, NamedParametersStayAsTheyAreAndOthersDoNot) {
    const Scratch scratch;
    TestSession session(new_run(scratch / "run"));
    ASSERT_TRUE(wait_state(session, RunState::ready));
    session.run().set("train.freeze", "biases, keys");
    const auto before = saved_weights(session);
    ASSERT_TRUE(train_to(session, 6));
    const auto after = saved_weights(session);
    int frozen = 0, trained = 0;
    for (const auto& [name, value] : before) {
        const bool stays = is_any(name, {".mixer.k.", ".mixer.u", ".mixer.r", ".mixer.w"});
        const bool is_equal = at::equal(value, after.at(name));
        EXPECT_TRUE(!stays || is_equal) << name;
        frozen += stays;
        trained += !stays && !is_equal;
        const bool learns =
            is_any(name, {".mixer.v.weight", ".mlp.fc1.weight", "head.weight", "norm1.weight"});
        EXPECT_TRUE(!learns || !is_equal) << name;
    }
    EXPECT_GE(frozen, 8);
    EXPECT_GE(trained, 10);
}

TEST(Freeze, ItChangesWhileTrainingRests) {
    const Scratch scratch;
    TestSession session(new_run(scratch / "run"));
    ASSERT_TRUE(train_to(session, 3));
    session.run().set("train.freeze", "embeddings,mlp");
    const auto before = saved_weights(session);
    ASSERT_TRUE(train_to(session, 6));
    const auto between = saved_weights(session);
    session.run().set("train.freeze", "");
    ASSERT_TRUE(train_to(session, 9));
    const auto after = saved_weights(session);
    for (const auto& [name, value] : before) {
        if (!is_any(name, {"embed.token", ".mlp.fc2.weight"})) continue;
        EXPECT_TRUE(at::equal(value, between.at(name))) << name;
        EXPECT_FALSE(at::equal(value, after.at(name))) << name;
    }
    EXPECT_FALSE(at::equal(before.at("head.weight"), between.at("head.weight")));
}

TEST(Freeze, AnEmptyListGivesTheSameBits) {
    const Scratch scratch;
    TestSession plain(new_run(scratch / "plain")), emptied(new_run(scratch / "emptied"));
    emptied.run().set("train.freeze", "keys");
    emptied.run().set("train.freeze", "");
    ASSERT_TRUE(train_to(plain, 5));
    ASSERT_TRUE(train_to(emptied, 5));
    const auto one = saved_weights(plain), other = saved_weights(emptied);
    for (const auto& [name, value] : one) EXPECT_TRUE(at::equal(value, other.at(name))) << name;
}

TEST(Freeze, AnUnknownNameIsRefusedWithThoseThatThereAre) {
    const Scratch scratch;
    TestSession session(new_run(scratch / "run"));
    ASSERT_TRUE(train_to(session, 2));
    session.run().set("train.freeze", "kees");
    ASSERT_TRUE(wait_for([&] {
        return session.status().message.find("no parameters 'kees'") != std::string::npos;
    })) << session.status().message;
    for (const char* name : {"biases", "keys", "values", "gates", "embeddings", "norms"})
        EXPECT_NE(session.status().message.find(name), std::string::npos) << name;
    ASSERT_TRUE(train_to(session, 4)) << "the run is as it was";
}

}  // namespace
}  // namespace aft
