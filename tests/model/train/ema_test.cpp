// Stochastic depth, the moving average of the weights, and the checkpoint that is kept as the best.
#include "model/train/ema.h"

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <c10/core/GradMode.h>
#include <gtest/gtest.h>

#include <cmath>

#include "model/jobs.h"
#include "model/train/loop.h"
#include "model/train/run_folder.h"
#include "model/train/trainer.h"
#include "tests/model/train/train_fixtures.h"

namespace aft {
namespace {

using Values = std::map<std::string, double>;

Config full_config() {
    Config config = tiny_config();
    config.train.ema = 0.9;
    config.train.stochastic_depth = 0.5;
    return config;
}

std::vector<Values> steps_of(Trainer& trainer, int64_t steps) {
    std::vector<Values> lines;
    for (int64_t i = 0; i < steps; ++i) {
        lines.push_back(trainer.step().values);
        EXPECT_TRUE(lines.back().contains("loss"));
    }
    return lines;
}

std::map<std::string, at::Tensor> named(
    const std::vector<std::pair<std::string, at::Tensor>>& all) {
    return {all.begin(), all.end()};
}

TEST(Average, follows_its_recurrence) {
    Trainer trainer(full_config(), at::kCPU);
    auto expected = named(trainer.checkpoint(false).weights);
    for (auto& [name, tensor] : expected) tensor = tensor.to(at::kDouble);
    for (int i = 0; i < 6; ++i) {
        (void)trainer.step();
        for (const auto& [name, tensor] : trainer.checkpoint(false).weights)
            expected[name] = expected[name] * 0.9 + tensor.to(at::kDouble) * 0.1;
    }
    const auto saved = named(trainer.checkpoint(true).optimizer);
    const auto weights = named(trainer.checkpoint(true).weights);
    bool differs = false;
    for (const auto& [name, tensor] : expected) {
        ASSERT_TRUE(saved.contains("ema." + name)) << name;
        const at::Tensor& found = saved.at("ema." + name);
        EXPECT_TRUE(at::allclose(found.to(at::kDouble), tensor, 1e-5, 1e-6)) << name;
        differs = differs || !found.equal(weights.at(name));
    }
    EXPECT_TRUE(differs);
}

TEST(Average, validates_with_it_and_leaves_the_weights_bit_for_bit) {
    Config config = full_config();
    config.train.validate_every = 0;
    Trainer trainer(config, at::kCPU);
    (void)steps_of(trainer, 8);
    const Checkpoint before = trainer.checkpoint(true);
    const Values found = trainer.validate();
    const Checkpoint after = trainer.checkpoint(true);
    for (size_t i = 0; i < before.weights.size(); ++i)
        EXPECT_TRUE(before.weights[i].second.equal(after.weights[i].second));
    Checkpoint averaged = before, raw = before;
    use_average(averaged);
    averaged.optimizer.clear();
    raw.optimizer.clear();
    averaged.config.train.ema = raw.config.train.ema = 0;
    EXPECT_EQ(Trainer(averaged, at::kCPU).validate(), found);
    EXPECT_NE(Trainer(raw, at::kCPU).validate(), found);
    EXPECT_TRUE(has(error_of([&] { use_average(raw); }), "moving average"));
}

TEST(Average, forty_steps_with_all_of_it_are_twenty_a_file_and_twenty) {
    const Scratch folder;
    Trainer whole(full_config(), at::kCPU);
    const std::vector<Values> lines = steps_of(whole, 40);
    {
        Trainer first(full_config(), at::kCPU);
        (void)steps_of(first, 20);
        write_checkpoint(folder / "x", first.checkpoint(true));
    }
    Trainer second(read_checkpoint(folder / "x"), at::kCPU);
    const std::vector<Values> rest = steps_of(second, 20);
    for (size_t i = 0; i < 20; ++i) EXPECT_EQ(rest[i], lines[20 + i]) << i;
    const auto a = whole.checkpoint(true).optimizer, b = second.checkpoint(true).optimizer;
    ASSERT_EQ(a.size(), b.size());
    for (size_t i = 0; i < a.size(); ++i) {
        EXPECT_EQ(a[i].first, b[i].first);
        EXPECT_TRUE(a[i].second.equal(b[i].second)) << a[i].first;
    }
}

TEST(Average, one_that_does_not_fit_is_an_error_with_its_name_and_a_missing_one_starts) {
    Trainer trainer(full_config(), at::kCPU);
    Checkpoint checkpoint = trainer.checkpoint(true);
    Checkpoint broken = checkpoint;
    for (auto& [name, tensor] : broken.optimizer)
        if (name == "ema.head.bias") tensor = at::zeros({3});
    EXPECT_TRUE(
        has(error_of([&] { const Trainer again(broken, at::kCPU); }), "'ema.head.bias' is Float"));
    std::erase_if(broken.optimizer,
                  [](const auto& entry) { return entry.first == "ema.head.bias"; });
    EXPECT_TRUE(has(error_of([&] { const Trainer again(broken, at::kCPU); }), "lacks 'ema.head"));
    std::erase_if(checkpoint.optimizer,
                  [](const auto& entry) { return entry.first.starts_with("ema."); });
    const Trainer again(checkpoint, at::kCPU);
    EXPECT_TRUE(named(again.checkpoint(true).optimizer)
                    .at("ema.head.bias")
                    .equal(named(checkpoint.weights).at("head.bias")));
}

TEST(StochasticDepth, skips_whole_branches_of_whole_examples) {
    Dropout skip;
    skip.skip_rate = 0.25;
    skip.generator = at::detail::createCPUGenerator(5);
    const at::Tensor mask = skip.mask(at::empty({8000, 3, 2}));
    const at::Tensor first = mask.select(1, 0).select(1, 0);
    EXPECT_TRUE(mask.equal(first.view({8000, 1, 1}).expand({8000, 3, 2})));
    EXPECT_NEAR(first.mean().item<double>(), 1, 0.04) << "6 standard deviations";
    EXPECT_TRUE(first.eq(0).logical_or(first.eq(static_cast<float>(1 / 0.75))).all().item<bool>());
    EXPECT_TRUE(Dropout{}.is_off());
    EXPECT_FALSE(skip.is_off());
}

// Of two blocks the second skips with the whole rate, the first never.
TEST(StochasticDepth, grows_from_the_first_block_to_the_last) {
    const c10::NoGradGuard no_grad;
    const Config config = mirror_config();
    ModelConfig model = config.model;
    model.height = model.width = 8;
    model.levels = 4;
    const Net net(model, 1);
    std::map<std::string, at::Tensor> seen;
    const Tap tap = [&](const std::string& name, const at::Tensor& value) { seen[name] = value; };
    Pass pass{.training = true, .stochastic_depth = 0.9};
    pass.dropout = at::detail::createCPUGenerator(7);
    pass.tap = &tap;
    constexpr int64_t kExamples = 400;
    const at::Tensor tokens = at::zeros({kExamples, 64}, at::kLong);
    (void)net.forward(tokens, pass);
    const auto first = seen.at("blocks.0.out"), last = seen.at("blocks.1.out");
    int64_t skipped = 0;
    for (int64_t i = 0; i < kExamples; ++i) {
        EXPECT_TRUE(at::allclose(first[i], first[0], 0, 1e-5)) << "block 0 skips nothing";
        skipped += last[i].equal(first[i]);
    }
    // Both branches are skipped with p = 0.9^2: 5 standard deviations of 400 such draws.
    constexpr double kShare = 0.81;
    EXPECT_NEAR(static_cast<double>(skipped), kShare * kExamples,
                5 * std::sqrt(kShare * (1 - kShare) * kExamples));
    pass.stochastic_depth = 0;
    (void)net.forward(tokens, pass);
    EXPECT_TRUE(at::allclose(seen.at("blocks.1.out")[3], seen.at("blocks.1.out")[0], 0, 1e-5));
}

TEST(StochasticDepth, recomputed_blocks_skip_the_same) {
    Config config = full_config();
    Trainer plain(config, at::kCPU);
    config.train.recompute = true;
    Trainer recomputed(config, at::kCPU);
    const auto a = steps_of(plain, 6), b = steps_of(recomputed, 6);
    for (size_t i = 0; i < a.size(); ++i) EXPECT_EQ(a[i].at("loss"), b[i].at("loss")) << i;
}

TEST(KeepBest, the_lowest_validation_loss_stays_and_a_resume_knows_it) {
    const Scratch folder;
    Config config = tiny_config();
    config.train.keep_best = true;
    config.train.keep_checkpoints = 1;
    config.train.checkpoint_every = 5;
    config.train.validate_every = 1;
    config.train.learning_rate = 0.003;
    double best = 1e9;
    int64_t best_step = -1;
    const auto expect_best = [&](RunFolder& run) {
        EXPECT_TRUE(fs::exists(checkpoint_path(run.path(), best_step)));
        EXPECT_TRUE(is_best(save_kind(run.path(), best_step)));
        int64_t others = 0;
        for (const int64_t step : checkpoint_steps(run.path()))
            others += save_kind(run.path(), step) == SaveKind::best && step != best_step;
        EXPECT_EQ(others, 0);
    };
    const auto train = [&](Trainer& trainer, RunFolder& run, int64_t until) {
        TrainingLoop loop(trainer, run);
        while (trainer.steps_done() < until) {
            const StepReport report = loop.step();
            const double loss = report.values.at("validation.loss");
            if (loss < best) {
                best = loss;
                best_step = report.step;
            }
        }
        loop.save();
        expect_best(run);
    };
    {
        Trainer trainer(config, at::kCPU);
        RunFolder run(folder / "r", trainer.config());
        train(trainer, run, 10);
    }
    Checkpoint checkpoint = read_checkpoint(folder / "r");
    ASSERT_EQ(checkpoint.step, 10);
    checkpoint.config.train.learning_rate = 0.5;  // it only gets worse from here
    checkpoint.config.train.warmup = 0;
    RunFolder run(folder / "r");
    run.resume_from(10, checkpoint.config);
    Trainer trainer(checkpoint, at::kCPU);
    const int64_t before = best_step;
    train(trainer, run, 16);
    EXPECT_EQ(best_step, before);
}

}  // namespace
}  // namespace aft
