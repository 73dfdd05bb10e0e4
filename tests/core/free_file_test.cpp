#include "core/free_file.h"

#include <gtest/gtest.h>

#include <fstream>

#include "tests/core/scratch.h"

namespace aft {
namespace {

TEST(FreeFile, CountsOnFromTheNameThatIsWanted) {
    const Scratch scratch;
    const std::filesystem::path file = scratch / "r.json";
    EXPECT_EQ(free_file(file), file);
    for (const char* name : {"r.json", "r-2.json", "r-4.json"}) std::ofstream(scratch / name) << 1;
    EXPECT_EQ(free_file(file), scratch / "r-3.json");
    EXPECT_EQ(free_file(scratch / "r-4.json"), scratch / "r-5.json");
    EXPECT_EQ(free_file(scratch / "low-rank.json"), scratch / "low-rank.json");
    const auto is_second = [&](const std::filesystem::path& there) {
        return there == scratch / "r-2.json";
    };
    EXPECT_EQ(free_file(file, is_second), scratch / "r-2.json");
    EXPECT_EQ(free_file(file, [](const std::filesystem::path&) { return true; }), file);
}

TEST(FreeFile, EndsWhereAThousandAreTaken) {
    const Scratch scratch;
    std::ofstream(scratch / "r") << 1;
    for (int i = 2; i <= 1000; ++i) std::ofstream(scratch / ("r-" + std::to_string(i))) << 1;
    EXPECT_TRUE(free_file(scratch / "r").empty());
}

}  // namespace
}  // namespace aft
