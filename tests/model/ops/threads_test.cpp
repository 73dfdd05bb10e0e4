// The bits of a training step do not depend on the number of threads: every preset, made
// smaller.
#include <gtest/gtest.h>

#include "tests/model/small_presets.h"

namespace aft {
namespace {

TEST(ThreadCount, DoesNotChangeAStep) {
    const Scratch folder;
    const std::filesystem::path text = drawn_text(folder);
    int compared = 0;
    for (const PresetInfo& preset : list_presets()) {
        SCOPED_TRACE(preset.name);
        const Config config = small(preset.name, text);
        ++compared;
        const auto one = after_two_steps(config, 1), three = after_two_steps(config, 3);
        ASSERT_EQ(one.size(), three.size());
        for (const auto& [name, value] : one) EXPECT_TRUE(at::equal(value, three.at(name))) << name;
    }
    EXPECT_GE(compared, 30);
}

}  // namespace
}  // namespace aft
