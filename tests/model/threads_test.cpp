// The bits of a training step do not depend on the number of threads: every preset of AFT, made
// smaller.
#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include <fstream>

#include "model/config.h"
#include "model/jobs.h"
#include "model/mixers/mixer.h"
#include "model/train/trainer.h"
#include "tests/model/scratch.h"

namespace aft {
namespace {

class ThreadsHere {
  public:
    explicit ThreadsHere(int count) : before_(at::get_num_threads()) { at::set_num_threads(count); }
    ~ThreadsHere() { at::set_num_threads(before_); }
    ThreadsHere(const ThreadsHere&) = delete;
    ThreadsHere& operator=(const ThreadsHere&) = delete;

  private:
    int before_;
};

// Two layers of the preset on drawn pictures or on a text of a few words; widths, heads, windows
// and kernels are its own.
Config small(const std::string& preset, const std::filesystem::path& text) {
    Config config = load_preset(preset);
    ModelConfig& model = config.model;
    model.layers = 2;
    const TaskTraits task = task_traits(model);
    if (task.is_text()) {
        config.data.source = "text:" + text.string();
        model.own["length"] = std::min<int64_t>(model.tokens(), 256);
    } else if (task.has_classes) {
        config.data.source = fmt::format("shapes?size={}", model.height);
        model.own["classes"] = 3;
    } else {
        model.height = model.width = 16;
        config.data.source = "shapes?size=16";
    }
    config.train.batch = 4;
    config.train.micro_batch = 2;
    config.train.validate_every = 0;
    config.check();
    return config;
}

std::map<std::string, at::Tensor> after_two_steps(const Config& config, int threads) {
    const ThreadsHere count(threads);
    Trainer trainer(config, at::kCPU);
    for (int step = 0; step < 2; ++step) {
        const StepReport report = trainer.step();
        EXPECT_EQ(report.failure, "");
    }
    const Checkpoint state = trainer.checkpoint(true);
    std::map<std::string, at::Tensor> all(state.weights.begin(), state.weights.end());
    all.insert(state.optimizer.begin(), state.optimizer.end());
    return all;
}

// Baselines call LibTorch's batched products and flash kernels, which call MKL from threads; it
// splits some sums by the number of them.
bool has_own_kernels(const ModelConfig& model) {
    return model.mixer.starts_with("aft-");
}

TEST(ThreadCount, DoesNotChangeAStep) {
    const Scratch folder;
    const std::filesystem::path text = folder / "text.txt";
    std::ofstream out(text);
    for (int i = 0; i < 4000; ++i) out << "line " << i * i % 977 << " of a text\n";
    out.close();
    int compared = 0;
    for (const PresetInfo& preset : list_presets()) {
        SCOPED_TRACE(preset.name);
        const Config config = small(preset.name, text);
        if (!has_own_kernels(config.model)) continue;
        ++compared;
        const auto one = after_two_steps(config, 1), three = after_two_steps(config, 3);
        ASSERT_EQ(one.size(), three.size());
        for (const auto& [name, value] : one) EXPECT_TRUE(at::equal(value, three.at(name))) << name;
    }
    EXPECT_GE(compared, 20);
}

}  // namespace
}  // namespace aft
