// Lines of tensor names: layers are one line where nothing but their number differs.
#include "core/folded_lines.h"

#include <gtest/gtest.h>

namespace aft {
namespace {

TEST(FoldedLines, LayersAreOneLine) {
    FoldedLines folded, every(/*every_tensor=*/true);
    for (const char* layer : {"0", "1", "2", "5"}) {
        const std::string theirs = std::string("encoder.") + layer + ".w",
                          ours = std::string("blocks.") + layer + ".mixer.w";
        folded.add({theirs, ours}, " [4, 4]");
        every.add({theirs, ours}, " [4, 4]");
    }
    folded.add({"head.weight", "head.weight"}, " [3]");
    EXPECT_EQ(folded.words(),
              "  encoder.{0..2, 5}.w -> blocks.{0..2, 5}.mixer.w [4, 4]\n"
              "  head.weight -> head.weight [3]\n");
    EXPECT_EQ(every.lines().size(), 4u);
}

TEST(FoldedLines, OtherReasonsAreOtherLines) {
    const std::vector<std::string> names{"blocks.0.u (not there)", "blocks.1.u (not there)",
                                         "blocks.2.u (there [3])", "norm\x1b[1m"};
    const std::vector<std::string> expected{"blocks.{0..1}.u (not there)", "blocks.2.u (there [3])",
                                            "norm\\x1b[1m"};
    EXPECT_EQ(folded_lines(names), expected);
    EXPECT_EQ(folded_names(names, 1), "blocks.{0..1}.u (not there) (and 2 more)");
    EXPECT_EQ(folded_names({"a", "b"}, 2), "a, b");
}

}  // namespace
}  // namespace aft
