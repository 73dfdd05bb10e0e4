// Every preset, made smaller, and what two steps make of it.
#pragma once
#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include "model/config.h"
#include "model/jobs.h"
#include "model/train/trainer.h"
#include "tests/model/scratch.h"

namespace aft {

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
inline Config small(const std::string& preset, const std::filesystem::path& text) {
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
    config.train.batch = 2;
    config.train.validate_every = 0;
    config.check();
    return config;
}

using StepState = std::map<std::string, at::Tensor>;

inline StepState after_two_steps(const Config& config, int threads, RankGroup* ranks = nullptr) {
    const ThreadsHere count(threads);
    Trainer trainer(config, at::kCPU, ranks);
    for (int step = 0; step < 2; ++step) {
        const StepReport report = trainer.step();
        EXPECT_EQ(report.failure, "");
    }
    const Checkpoint state = trainer.checkpoint(true);
    StepState all(state.weights.begin(), state.weights.end());
    all.insert(state.optimizer.begin(), state.optimizer.end());
    return all;
}

inline std::filesystem::path drawn_text(const Scratch& folder) {
    std::filesystem::path text = folder / "text.txt";
    std::ofstream out(text);
    for (int i = 0; i < 4000; ++i) out << "line " << i * i % 977 << " of a text\n";
    return text;
}

}  // namespace aft
