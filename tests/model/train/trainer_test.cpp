// The training step: it learns, repeats bit for bit, resumes bit for bit, and stops at a NaN.
#include "model/train/trainer.h"
#include "model/train/bias_norm.h"
#include "model/train/demand.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <c10/core/GradMode.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "core/check.h"
#include "core/files.h"
#include "tests/model/test_device.h"
#include "tests/model/train/train_fixtures.h"

namespace aft {
namespace {

using Values = std::map<std::string, double>;

std::vector<Values> run(Trainer& trainer, int64_t steps) {
    std::vector<Values> lines;
    for (int64_t i = 0; i < steps; ++i) {
        const StepReport report = trainer.step();
        EXPECT_EQ(report.failure, "");
        EXPECT_EQ(report.step, trainer.steps_done());
        lines.push_back(report.values);
    }
    return lines;
}

void expect_same(const std::vector<Values>& a, const std::vector<Values>& b) {
    ASSERT_EQ(a.size(), b.size());
    for (size_t i = 0; i < a.size(); ++i) EXPECT_EQ(a[i], b[i]) << "line " << i;
}

void spoil(const Trainer& trainer, const std::string& name) {
    const c10::NoGradGuard no_grad;
    for (const Parameter& parameter : trainer.net().parameters())
        if (parameter.name == name) {
            at::Tensor value = parameter.value;
            value.flatten()[0].fill_(std::numeric_limits<float>::quiet_NaN());
        }
}

TEST(Trainer, RepeatsBitForBit) {
    Trainer a(tiny_config(), test_device()), b(tiny_config(), test_device());
    expect_same(run(a, 12), run(b, 12));
}

TEST(Trainer, AnotherSeedGivesAnotherRun) {
    Config config = tiny_config();
    config.train.seed = 2;
    Trainer a(tiny_config(), test_device()), b(config, test_device());
    EXPECT_NE(a.step().values.at("loss"), b.step().values.at("loss"));
}

TEST(Trainer, FortyStepsAreTwentyAFileAndTwenty) {
    const Scratch folder;
    Trainer whole(tiny_config(), test_device());
    const std::vector<Values> lines = run(whole, 40);
    {
        Trainer first(tiny_config(), test_device());
        (void)run(first, 20);
        write_checkpoint(folder / "x", first.checkpoint(/*with_optimizer=*/true));
    }
    Trainer second(read_checkpoint(folder / "x"), test_device());
    EXPECT_EQ(second.steps_done(), 20);
    expect_same(run(second, 20), {lines.begin() + 20, lines.end()});
}

// The order in which two threads finish changes no bit; ThreadCount compares with one thread.
TEST(Trainer, TwoThreadsRepeatBitForBit) {
    const int before = at::get_num_threads();
    at::set_num_threads(2);
    Trainer a(tiny_config(), test_device()), b(tiny_config(), test_device());
    expect_same(run(a, 5), run(b, 5));
    at::set_num_threads(before);
}

// The loss of uniform guessing among 4 levels: 0.2 nats below it is learned.
const double kGuessing = std::log(4.0);

TEST(Trainer, Learns) {
    Config config = tiny_config();
    config.train.micro_batch = 0;
    config.model.dropout = 0;
    Trainer trainer(config, test_device());
    (void)run(trainer, 40);
    EXPECT_LT(trainer.validate().at("validation.loss"), kGuessing - 0.2);
}

// With bfloat16 matrix products: other digits, as much learnt, every bit again in the next run.
// On the CPU alone: a device refuses them.
TEST(Trainer, LearnsWithBfloat16Products) {
    Config config = tiny_config();
    config.train.micro_batch = 0;
    config.model.dropout = 0;
    Trainer plain(config, at::kCPU);
    const double first = plain.validate().at("validation.loss");
    config.train.precision = "bf16";
    Trainer a(config, at::kCPU), b(config, at::kCPU);
    const std::vector<Values> exact = run(plain, 40), lines = run(a, 40);
    expect_same(run(b, 40), lines);
    EXPECT_NE(lines[0].at("loss"), exact[0].at("loss"));
    EXPECT_NEAR(lines[0].at("loss"), exact[0].at("loss"), 1e-2);
    EXPECT_LT(lines[39].at("loss"), kGuessing - 0.2);
    // Gradients of bf16 operands are promised within 3e-2, so is what they teach.
    const double last = plain.validate().at("validation.loss");
    EXPECT_NEAR(a.validate().at("validation.loss"), last, 3e-2 * (first - last));
}

// The same batch in one piece or in micro batches: the same gradient up to rounding.
TEST(Trainer, MicroBatchesAddUp) {
    Config config = tiny_config();
    config.model.dropout = 0;
    Config whole = config;
    whole.train.micro_batch = 0;
    Trainer a(config, test_device()), b(whole, test_device());
    const Values x = a.step().values, y = b.step().values;
    for (const auto& [key, value] : y) EXPECT_NEAR(x.at(key), value, 1e-4 * std::abs(value)) << key;
}

TEST(Trainer, NormsAddUp) {
    Trainer trainer(tiny_config(), test_device());
    const Values values = trainer.step().values;
    double groups = 0;
    for (const auto& [key, value] : values)
        if (key.starts_with("grad_norm.group.")) groups += value * value;
    EXPECT_NEAR(std::sqrt(groups), values.at("grad_norm"), 1e-9 * values.at("grad_norm"));
    for (const int layer : {0, 1}) {
        EXPECT_GT(values.at(fmt::format("grad_norm.layer.{}", layer)), 0);
        const auto square =
            squared_bias(trainer.net().mixer(layer), trainer.config().model.tokens());
        ASSERT_TRUE(square);
        EXPECT_EQ(values.at(fmt::format("bias_norm.layer.{}", layer)), std::sqrt(*square))
            << "as the step leaves it";
        EXPECT_GT(*square, 0);
    }
    EXPECT_NEAR(values.at("bits_per_dim"), values.at("loss") / std::log(2.0), 1e-5);
}

TEST(Trainer, ValidatesWhenDueAlwaysOnTheSameExamples) {
    Trainer trainer(tiny_config(), test_device());
    const std::vector<Values> lines = run(trainer, 20);
    for (size_t i = 0; i < lines.size(); ++i)
        EXPECT_EQ(lines[i].contains("validation.loss"), (i + 1) % 10 == 0) << i;
    EXPECT_EQ(trainer.validate(), trainer.validate());
    EXPECT_EQ(trainer.validate().at("validation.loss"), lines.back().at("validation.loss"));
}

TEST(Trainer, ANaNIsNotAppliedAndNamesItsLayer) {
    Trainer trainer(tiny_config(), test_device());
    (void)run(trainer, 2);
    spoil(trainer, "blocks.1.mixer.v.weight");
    const Checkpoint before = trainer.checkpoint(true);
    const StepReport report = trainer.step();
    EXPECT_NE(report.failure.find("layer 1"), std::string::npos) << report.failure;
    EXPECT_NE(report.failure.find("step 3"), std::string::npos) << report.failure;
    EXPECT_EQ(report.step, 2);
    EXPECT_EQ(trainer.steps_done(), 2);
    const Checkpoint after = trainer.checkpoint(true);
    for (size_t i = 0; i < before.optimizer.size(); ++i)
        EXPECT_TRUE(at::equal(before.optimizer[i].second, after.optimizer[i].second));
}

// Infinite averages of squares are sound: their parameters stay as they are.
TEST(Trainer, AStateThatHoldsNaNIsNotTrainedOn) {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    Trainer trainer(tiny_config(), test_device());
    (void)run(trainer, 2);
    const auto error_with = [&](const std::string& prefix, double value) {
        Checkpoint checkpoint = trainer.checkpoint(true);
        checkpoint.path = "run/step.safetensors";
        for (auto& [name, tensor] : checkpoint.optimizer) {
            if (!name.starts_with(prefix)) continue;
            tensor = at::full_like(tensor, value);
            break;
        }
        return error_of([&] { const Trainer again(checkpoint, test_device()); });
    };
    for (const char* const prefix : {"optim.exp_avg.", "optim.exp_avg_sq."}) {
        const std::string error = error_with(prefix, std::nan(""));
        EXPECT_TRUE(error.starts_with("run/step.safetensors: ")) << error;
        EXPECT_NE(error.find(prefix), std::string::npos) << error;
        EXPECT_NE(error.find("holds NaN"), std::string::npos) << error;
        EXPECT_EQ(error_with(prefix, 1), "");
    }
    EXPECT_NE(error_with("optim.exp_avg.", kInfinity), "");
    EXPECT_NE(error_with("optim.exp_avg_sq.", -1), "");
    EXPECT_EQ(error_with("optim.exp_avg_sq.", kInfinity), "");
}

// Weights so large that the activations overflow although every parameter is finite.
TEST(Trainer, AnOverflowNamesTheFirstLayerThatMadeIt) {
    Trainer trainer(tiny_config(), test_device());
    {
        const c10::NoGradGuard no_grad;
        for (const Parameter& parameter : trainer.net().parameters())
            if (parameter.name == "blocks.0.mixer.o.weight") {
                at::Tensor value = parameter.value;
                value.fill_(3e38F);
            }
    }
    const StepReport report = trainer.step();
    EXPECT_NE(report.failure.find("layer 0, residual stream after the mixer"), std::string::npos)
        << report.failure;
    EXPECT_EQ(trainer.steps_done(), 0);
}

TEST(Trainer, LiveSettingsChangeAndOthersDoNot) {
    Trainer trainer(tiny_config(), test_device());
    trainer.set("train.learning_rate", "0.5");
    EXPECT_EQ(trainer.config().train.learning_rate, 0.5);
    EXPECT_NE(error_of([&] { trainer.set("model.dim", "32"); }).find("model.dim"),
              std::string::npos);
    EXPECT_NE(error_of([&] { trainer.set("train.learning_rate", "fast"); }), "");
    EXPECT_NE(error_of([&] { trainer.set("train.nothing", "1"); }), "");
    EXPECT_EQ(trainer.config().train.learning_rate, 0.5);
}

TEST(Trainer, ALiveSettingComesBackWithTheCheckpoint) {
    Trainer trainer(tiny_config(), test_device());
    (void)trainer.step();
    trainer.set("train.learning_rate", "0.25");
    const Trainer second(trainer.checkpoint(true), test_device());
    EXPECT_EQ(second.config().train.learning_rate, 0.25);
}

// The batch of a step is a function of the seed, the step and the batch size: a run that
// continues with another size is the one that is resumed with it.
TEST(Trainer, AnotherBatchSizeCountsFromTheNextStep) {
    Config small = tiny_config();
    small.train.batch = 4;
    Trainer trainer(small, test_device());
    (void)trainer.step();
    Checkpoint saved = trainer.checkpoint(true);
    trainer.set("train.batch", "6");
    trainer.set("train.micro_batch", "3");
    (void)trainer.step();
    saved.config.train.batch = 6;
    saved.config.train.micro_batch = 3;
    Trainer resumed(saved, test_device());
    (void)resumed.step();
    const Checkpoint a = trainer.checkpoint(true), b = resumed.checkpoint(true);
    for (size_t i = 0; i < a.weights.size(); ++i)
        EXPECT_TRUE(at::equal(a.weights[i].second, b.weights[i].second)) << a.weights[i].first;
    Trainer unchanged(small, test_device());
    (void)unchanged.step();
    (void)unchanged.step();
    EXPECT_FALSE(at::equal(a.weights[0].second, unchanged.checkpoint(false).weights[0].second));
    EXPECT_NE(error_of([&] { trainer.set("train.batch", "0"); }).find("train.batch"),
              std::string::npos);
    EXPECT_EQ(trainer.config().train.batch, 6);
}

TEST(Trainer, ABatchThatTheMemoryDoesNotHoldIsRefused) {
    Config large = tiny_config();
    large.model.dim = 256;
    large.model.height = large.model.width = 32;
    large.data.source = "mirror?size=32&levels=4";
    large.train.batch = 1;
    large.train.micro_batch = 0;
    Trainer trainer(large, test_device());
    large.train.batch = 65536;
    const std::string words = error_of([&] { check_demand(large, test_device()); });
    if (words.empty()) GTEST_SKIP() << "the device has the memory, or it is not counted";
    EXPECT_EQ(error_of([&] { trainer.set("train.batch", "65536"); }), words);
    EXPECT_EQ(trainer.config().train.batch, 1);
}

TEST(Trainer, BrokenOptimiserStateIsNamed) {
    Trainer trainer(tiny_config(), test_device());
    Checkpoint checkpoint = trainer.checkpoint(true);
    checkpoint.optimizer.pop_back();
    EXPECT_NE(error_of([&] { const Trainer t(checkpoint, test_device()); }).find("optim.steps"),
              std::string::npos);
    checkpoint = trainer.checkpoint(true);
    checkpoint.optimizer[0].second = at::zeros({1, 2, 3});
    EXPECT_NE(error_of([&] {
                  const Trainer t(checkpoint, test_device());
              }).find(checkpoint.optimizer[0].first),
              std::string::npos);
}

TEST(Trainer, MemoryIsRead) {
    EXPECT_GT(memory_bytes(), 1 << 20);
    EXPECT_GE(peak_memory_bytes(), memory_bytes() / 2);
}

}  // namespace
}  // namespace aft
