// Pieces of SVG.
#include <gtest/gtest.h>

#include "core/base64.h"
#include "core/images/svg.h"

namespace aft {
namespace {

TEST(Base64, VectorsOfTheStandard) {  // RFC 4648, section 10
    const char* const kVectors[][2] = {{"", ""},
                                       {"f", "Zg=="},
                                       {"fo", "Zm8="},
                                       {"foo", "Zm9v"},
                                       {"foob", "Zm9vYg=="},
                                       {"fooba", "Zm9vYmE="},
                                       {"foobar", "Zm9vYmFy"}};
    for (const auto& [bytes, text] : kVectors) EXPECT_EQ(base64(bytes), text);
    EXPECT_EQ(base64("\xFB\xEF\xFF"), "++//");
}

TEST(Svg, NumbersAreAsShortAsTheyCanBe) {
    EXPECT_EQ(svg_number(12), "12");
    EXPECT_EQ(svg_number(100), "100");
    EXPECT_EQ(svg_number(0.5), "0.5");
    EXPECT_EQ(svg_number(-3.14159), "-3.14");
    EXPECT_EQ(svg_number(-0.001), "0");
    EXPECT_EQ(svg_color(0x0A0B0C), "#0A0B0C");
}

}  // namespace
}  // namespace aft
