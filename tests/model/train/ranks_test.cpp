// Several ranks: what they say to each other, sums of gradients, and training with any number of
// them.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <set>

#include "core/environment.h"
#include "model/distributed/gradient_buckets.h"
#include "model/train/rank_worker.h"
#include "model/train/step_totals.h"
#include "model/train/trainer_ranks.h"
#include "tests/model/small_presets.h"
#include "tests/model/train/rank_threads.h"
#include "tests/model/train/train_fixtures.h"

namespace aft {
namespace {

TEST(RankGroup, GathersInTheirOrder) {
    EXPECT_EQ(
        with_ranks(3,
                   [](RankGroup& group) {
                       const std::string mine(static_cast<size_t>(group.rank()) * 100000, 'x');
                       const std::vector<std::string> all = group.gather(mine);
                       ASSERT_EQ(all.size(), 3u);
                       for (size_t r = 0; r < 3; ++r) EXPECT_EQ(all[r].size(), r * 100000);
                       EXPECT_EQ(group.gather(""), std::vector<std::string>(3));
                       const std::string said =
                           group.broadcast(group.rank() == 0 ? "from the leader" : "not looked at");
                       EXPECT_EQ(said, "from the leader");
                   }),
        no_errors(3));
}

TEST(RankGroup, AnErrorOfOneIsNamedByTheOthers) {
    const std::vector<std::string> errors = with_ranks(3, [](RankGroup& group) {
        (void)group.gather("all are here");
        if (group.rank() == 1) {
            group.leave("its disk is full");
            return;
        }
        (void)group.gather("and now");
    });
    EXPECT_EQ(errors[1], "");
    for (const size_t other : {0u, 2u}) {
        EXPECT_NE(errors[other].find("rank 1 ("), std::string::npos) << errors[other];
        EXPECT_NE(errors[other].find("ended: its disk is full"), std::string::npos)
            << errors[other];
    }
}

// Whole numbers: their sums are exact in every order.
Parameters drawn_parameters() {
    Parameters list;
    const std::vector<std::vector<int64_t>> shapes{{3},          {40, 1000},     {1},
                                                   {1200, 1000}, {kPieceValues}, {7, 11, 13}};
    for (const std::vector<int64_t>& shape : shapes)
        list.push_back(
            {.name = fmt::format("p{}", list.size()), .value = at::ones(shape).requires_grad_()});
    list.push_back({.name = "fixed", .value = at::ones({5}), .group = ParameterGroup::fixed});
    return list;
}

void sums_gradients(bool overlap, bool shards) {
    constexpr int kRanks = 3;
    std::vector<Shards> all(kRanks);
    const std::vector<std::string> errors = with_ranks(kRanks, [&](RankGroup& group) {
        const Parameters parameters = drawn_parameters();
        GradientBuckets buckets(group, parameters, shards);
        for (int step = 1; step <= 2; ++step) {
            buckets.begin(overlap);
            at::Tensor loss = at::zeros({});
            for (size_t i = 0; i < 5; ++i)  // the sixth is in no loss
                loss = loss + (parameters[i].value * static_cast<double>(i + 1)).sum();
            (loss * static_cast<double>(step * (group.rank() + 1))).backward();
            buckets.finish();
            EXPECT_FALSE(parameters[5].value.grad().defined());
            for (size_t i = 0; i < 5; ++i) {
                const Shard& mine = buckets.shards()[i];
                const at::Tensor part =
                    parameters[i].value.grad().view({-1}).narrow(0, mine.first, mine.count);
                const double sum = static_cast<double>(i + 1) * step * 6;  // 1 + 2 + 3
                EXPECT_TRUE(at::equal(part, at::full_like(part, sum))) << i;
                parameters[i].value.mutable_grad().reset();
            }
        }
        all[static_cast<size_t>(group.rank())] = buckets.shards();
    });
    EXPECT_EQ(errors, no_errors(kRanks));
    if (!shards) return;
    for (size_t i = 0; i < 6; ++i) {  // one after the other, without gaps
        int64_t next = 0;
        for (const Shards& of_rank : all)
            if (of_rank[i].count > 0) {
                EXPECT_EQ(of_rank[i].first, next);
                EXPECT_EQ(next % kPieceValues, 0);
                next += of_rank[i].count;
            }
        EXPECT_EQ(next, drawn_parameters()[i].value.numel());
    }
}

TEST(GradientBuckets, SumsWhileTheBackwardPassRuns) {
    sums_gradients(true, false);
}
TEST(GradientBuckets, SumsAfterIt) {
    sums_gradients(false, false);
}
TEST(GradientBuckets, ShardsKeepTheirPart) {
    sums_gradients(true, true);
}

TEST(StepTotals, AddUpInTheOrderOfTheParts) {
    TaskResult result;
    result.tokens = 3;
    StepTotals first, second;
    result.metrics = {{"accuracy", 0.1}};
    first.add(2, 1.0 / 3, result);
    result.metrics = {{"accuracy", std::numeric_limits<double>::quiet_NaN()}};
    second.add(0, 0.7, result);
    StepTotals all;
    all.merge({first.to_json(), second.to_json()});
    EXPECT_EQ(all.loss(), (0.7 * 3 + 1.0 / 3 * 3) / 6);
    std::map<std::string, double> values;
    all.write("x.", values);
    EXPECT_TRUE(std::isnan(values.at("x.accuracy")));
}

TEST(BatchPart, CoversTheBatch) {
    for (int64_t batch = 1; batch < 20; ++batch)
        for (int ranks = 1; ranks <= batch; ++ranks) {
            TrainConfig train;
            train.batch = batch;
            train.micro_batch = 2;
            int64_t next = 0, micro = -1;
            for (int rank = 0; rank < ranks; ++rank) {
                const BatchPart part = batch_part(train, rank, ranks);
                EXPECT_EQ(part.first, next);
                EXPECT_GT(part.count, 0);
                EXPECT_GT(part.first_micro, micro);
                next += part.count;
                micro = part.first_micro + (part.count + 1) / 2 - 1;
            }
            EXPECT_EQ(next, batch);
        }
}

// The leader's state after two steps, with as many ranks.
StepState with_ranks_after_two_steps(const Config& config, int ranks) {
    StepState state;
    const std::vector<std::string> errors = with_ranks(ranks, [&](RankGroup& group) {
        if (group.rank() == 0) {
            state = after_two_steps(config, 1, &group);
        } else {
            const ThreadsHere one(1);
            serve_training(group, at::kCPU);
        }
    });
    EXPECT_EQ(errors, no_errors(ranks));
    return state;
}

void expect_same(const StepState& one, const StepState& other) {
    ASSERT_EQ(one.size(), other.size());
    for (const auto& [name, value] : one) EXPECT_TRUE(at::equal(value, other.at(name))) << name;
}

// One process with micro batches as large as a rank's part gives its bits. Of presets with one
// mixer and task the first, unless all tests run.
TEST(Ranks, TwoGiveTheBitsOfOneForEveryPreset) {
    const Scratch folder;
    const std::filesystem::path text = drawn_text(folder);
    const bool all = !variable("AFTERIMAGE_ALL_TESTS").empty();
    std::set<std::string> seen;
    for (const PresetInfo& preset : list_presets()) {
        SCOPED_TRACE(preset.name);
        Config config = small(preset.name, text);
        config.train.micro_batch = 1;
        if (!seen.insert(config.model.mixer + config.model.task).second && !all) continue;
        expect_same(after_two_steps(config, 1), with_ranks_after_two_steps(config, 2));
    }
}

TEST(Ranks, TreeAndShardsGiveTheBitsOfOne) {
    Config config = tiny_config();  // with dropout
    config.train.batch = 8;
    config.train.micro_batch = 1;
    config.train.reproducible = true;
    config.train.ema = 0.9;
    config.train.validate_every = 1;
    const StepState one = after_two_steps(config, 1);
    for (const bool shards : {false, true}) {
        config.train.shard_optimizer = shards;
        expect_same(one, with_ranks_after_two_steps(config, 2));
        expect_same(one, with_ranks_after_two_steps(config, 4));
    }
}

TEST(Ranks, MixedPicturesAreThoseOfTheWholeBatch) {
    const Scratch folder;
    Config config = small("demo-shapes", drawn_text(folder));
    config.train.batch = 4;
    config.train.micro_batch = 2;
    config.data.strengths.mixup = 0.8;
    config.data.strengths.cutmix = 1;
    config.data.strengths.erasing = 0.5;
    expect_same(after_two_steps(config, 1), with_ranks_after_two_steps(config, 2));
}

// Live settings, validation by hand, a rewind (a second trainer from a checkpoint) and the values
// of each step reach all ranks.
TEST(Ranks, FollowTheirLeader) {
    Config config = tiny_config();
    config.train.batch = 4;
    config.train.micro_batch = 2;
    std::vector<std::map<std::string, double>> alone, together;
    const auto work = [&](RankGroup* group, auto& seen) {
        auto trainer = std::make_unique<Trainer>(config, at::kCPU, group);
        seen.push_back(trainer->step().values);
        const Checkpoint middle = trainer->checkpoint(true);
        trainer->set("train.learning_rate", "0.02");
        seen.push_back(trainer->step().values);
        seen.push_back(trainer->validate());
        trainer = std::make_unique<Trainer>(middle, at::kCPU, group);
        seen.push_back(trainer->step().values);
    };
    const ThreadsHere one(1);
    work(nullptr, alone);
    const std::vector<std::string> errors = with_ranks(2, [&](RankGroup& group) {
        const ThreadsHere here(1);
        if (group.rank() == 0)
            work(&group, together);
        else
            serve_training(group, at::kCPU);
    });
    EXPECT_EQ(errors, no_errors(2));
    EXPECT_EQ(alone, together);
}

TEST(Ranks, ARankWithoutTheDataSaysSo) {
    Config config = tiny_config();
    config.train.batch = 4;
    const std::vector<std::string> errors = with_ranks(2, [&](RankGroup& group) {
        if (group.rank() == 0)
            check_started(group, "");
        else
            check_started(group, "no such file\x1b");
    });
    for (const std::string& words : errors) {
        EXPECT_NE(words.find("rank 1 ("), std::string::npos) << words;
        EXPECT_NE(words.find("no such file\\x1b"), std::string::npos) << words;
    }
}

}  // namespace
}  // namespace aft
