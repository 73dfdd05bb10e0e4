// The bits of a training step do not depend on the number of threads: every preset of AFT, made
// smaller.
#include <gtest/gtest.h>

#include "model/mixers/mixer.h"
#include "tests/model/small_presets.h"

namespace aft {
namespace {

// Baselines call LibTorch's batched products and flash kernels, which call MKL from threads; it
// splits some sums by the number of them.
bool has_own_kernels(const ModelConfig& model) {
    return model.mixer.starts_with("aft-");
}

TEST(ThreadCount, DoesNotChangeAStep) {
    const Scratch folder;
    const std::filesystem::path text = drawn_text(folder);
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
