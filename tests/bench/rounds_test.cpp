// The rules of timed rows, with rounds that only pretend to take time; and the small parts beside
// them. No time is asserted.
#include "bench/timing/rounds.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "bench/timing/statistics.h"
#include "bench/workloads/einsum_mixer.h"
#include "bench/workloads/training.h"
#include "core/check.h"
#include "model/mixers/find.h"

namespace aft::bench {
namespace {

struct RoundsStage {
    Calibrator calibrator{CalibrationSize::tiny};
    BenchSettings settings{.rounds = 8, .quick = true, .program = {}, .calibrator = &calibrator};
    std::string order;
    Turn turn(char name, bool ours, double seconds) {
        return {.round =
                    [this, name, seconds] {
                        order += name;
                        return seconds;
                    },
                .ours = ours};
    }
};

TEST(BenchRounds, TakeTurnsAfterAWarmUp) {
    RoundsStage stage;
    stage.settings.rounds = 3;
    std::vector<Turn> turns{stage.turn('a', true, 1), stage.turn('b', false, 2)};
    static_cast<void>(measure(turns, {}, stage.settings, {}));
    EXPECT_EQ(stage.order, "abababab");
    EXPECT_EQ(turns[0].times, std::vector<double>(3, 1));
    EXPECT_EQ(turns[1].times, std::vector<double>(3, 2));
}

TEST(BenchRounds, APeerFarBehindTheFastestGetsFive) {
    RoundsStage stage;
    std::vector<Turn> turns{stage.turn('a', true, 9), stage.turn('b', false, 1),
                            stage.turn('c', false, 5)};
    static_cast<void>(measure(turns, {}, stage.settings, {}));
    EXPECT_EQ(turns[0].times.size(), 8U);
    EXPECT_EQ(turns[1].times.size(), 8U);
    EXPECT_EQ(turns[2].times.size(), 5U);
}

TEST(BenchRounds, LongCallsGetAsManyRoundsAsFitTheTime) {
    RoundsStage stage;
    std::vector<Turn> turns{stage.turn('a', true, 1), stage.turn('b', true, 100)};
    static_cast<void>(measure(turns, {.least_rounds = 2, .seconds = 4.5}, stage.settings, {}));
    EXPECT_EQ(turns[0].times.size(), 4U);
    EXPECT_EQ(turns[1].times.size(), 2U);
}

TEST(BenchRounds, NoRatioWhenTheRatesMoved) {
    Conditions conditions;
    conditions.moved = 0.14;
    EXPECT_TRUE(conditions.has_ratios());
    EXPECT_TRUE(conditions.is_judged());
    conditions.others = 0.06;
    EXPECT_TRUE(conditions.has_ratios());
    EXPECT_FALSE(conditions.is_judged());
    conditions.others = 0;
    conditions.quick = true;
    EXPECT_FALSE(conditions.is_judged());
    conditions.quick = false;
    conditions.moved = 0.16;
    EXPECT_FALSE(conditions.has_ratios());
    EXPECT_FALSE(conditions.is_judged());
}

TEST(BenchRounds, ADecoderIsJudgedByTheRatesThatItRestsOn) {
    RoundsStage stage;
    std::vector<Turn> turns{stage.turn('a', true, 1)};
    double rate = 100;
    const Rounds limits{.basis = [&] { return std::vector<double>{50, rate *= 1.3}; }};
    const Conditions moved = measure(turns, limits, stage.settings, {});
    EXPECT_NEAR(moved.moved, 0.3, 1e-12);
    EXPECT_FALSE(moved.has_ratios());
    EXPECT_EQ(moved.basis_before.size(), 2U);
    EXPECT_EQ(found_words(1.949, "x", moved), "");
    const Rounds still{.basis = [] { return std::vector<double>{50, 100}; }};
    const Conditions held = measure(turns, still, stage.settings, {});
    EXPECT_EQ(held.moved, 0);
    EXPECT_EQ(found_words(1.949, "x", held), " (found 1.95x)");
}

TEST(BenchRounds, TheRatioIsOverTheFirst) {
    const Turn first{.round = {}, .ours = true, .first = 0, .rounds = 0, .times = {2, 2, 2}};
    const Turn peer{.round = {}, .ours = false, .first = 0, .rounds = 0, .times = {5, 6, 7}};
    nlohmann::json with, without, self;
    add_times(with, peer, &first, {});
    EXPECT_EQ(with["ratio"], 3);
    EXPECT_EQ(with["median_ms"], 6000);
    EXPECT_EQ(with["least_ms"], 5000);
    add_times(without, peer, nullptr, {"s", 1});
    EXPECT_EQ(without["median_s"], 6);
    EXPECT_FALSE(without.contains("ratio"));
    add_times(self, first, &first, {});
    EXPECT_FALSE(self.contains("ratio"));
}

TEST(BenchRounds, TheBestPeerIsTheFastestOfThoseMeant) {
    const auto peer = [](const char* name, const char* group, const char* precision, double ratio) {
        return nlohmann::json{{"name", name},           {"group", group}, {"ours", false},
                              {"precision", precision}, {"ratio", ratio}, {"median_ms", 1}};
    };
    nlohmann::json all{peer("a", "einsum", "fp32", 8), peer("b", "einsum", "bf16", 4),
                       peer("c", "attention", "fp32", 5)};
    EXPECT_EQ(best_of(all, {})["name"], "b");
    EXPECT_EQ(best_of(all, {.group = "einsum", .precision = "fp32"})["name"], "a");
    EXPECT_EQ(best_of(all, {.group = "", .precision = "fp32"})["name"], "c");
    EXPECT_TRUE(best_of(all, {.group = "scan", .precision = ""}).is_null());
    all.push_back(peer("d", "einsum", "bf16", 1));  // of no form of ours: timed, never compared
    all.back().erase("ratio");
    EXPECT_EQ(best_of(all, {})["name"], "b");
    nlohmann::json verdicts = nlohmann::json::array();
    add_ratio_verdicts(verdicts,
                       {{.group = "einsum", .precision = "fp32", .ratio = 7},
                        {.group = "attention", .precision = "", .ratio = 6},
                        {.group = "scan", .precision = "", .ratio = 1}},
                       all, true);
    ASSERT_EQ(verdicts.size(), 2U);
    EXPECT_EQ(verdicts[0]["state"], "met");
    EXPECT_EQ(verdicts[1]["state"], "missed");
    EXPECT_EQ(verdict("x", true, false)["state"], "not judged");
}

Problem small_problem(ops::OperatorKind kind) {
    const Shape shape{"", 1, 40, 32, 4};
    Problem problem = make_problem(kind, shape, {.causal = true, .window = 9});
    if (kind == ops::OperatorKind::conv1d) {
        problem.in.k = at::randn({1, 40, 4});
        problem.in.w = at::randn({4, 5});
    }
    return problem;
}

TEST(BenchTail, AgreesWithTheReferenceAndSeesAWrongRow) {
    for (const ops::OperatorKind kind :
         {ops::OperatorKind::simple, ops::OperatorKind::local, ops::OperatorKind::conv1d}) {
        const Problem problem = small_problem(kind);
        ops::Options options = problem.options;
        options.backend = ops::OperatorBackend::reference;
        const at::Tensor y = ops::apply(kind, problem.in, options);
        EXPECT_LT(tail_error(problem, y), 1e-6) << ops::kind_name(kind);
        at::Tensor wrong = y.clone();
        wrong.select(1, 39).mul_(1.01);
        EXPECT_GT(tail_error(problem, wrong), 1e-4) << ops::kind_name(kind);
    }
}

Config einsum_of(Config config) {
    add_einsum_mixer();
    config.model.mixer = kEinsumMixer;
    return config;
}

TEST(BenchStep, TheEinsumNetIsTheSameNetAndNoRoomOfTheProgram) {
    Config config = pixel_config("aft-local", true);
    config.train.batch = 2;
    const ModelConfig truth = config.model;
    for (const Config& one : {config, einsum_of(config)}) {
        const StepErrors errors = first_step_errors(one, truth_of(one.model));
        EXPECT_LT(errors.error, 1e-5) << one.model.mixer;
        EXPECT_LT(errors.gradients, 1e-3) << one.model.mixer;
    }
    for (const MixerRoom& room : mixers()) EXPECT_NE(room.info.name, kEinsumMixer);
    EXPECT_EQ(&find_mixer(truth.mixer), &find_room(mixers(), "aft-local", ""));
    EXPECT_THROW(static_cast<void>(find_mixer("einsum")), Error);
}

TEST(BenchStep, AnotherFunctionIsSeen) {
    const Config config = pixel_config("aft-local", true);
    ModelConfig other = config.model;
    other.own["window"] = 2;
    EXPECT_GT(first_step_errors(config, other).gradients, 1e-2);
    EXPECT_GT(first_step_errors(einsum_of(config), other).gradients, 1e-2);
}

}  // namespace
}  // namespace aft::bench
