// Text as a grid of characters: where every byte stands, what it is called, what a pointer hits.
#include <gtest/gtest.h>

#include <string_view>

#include "tests/viz/stage.h"
#include "viz/text_map.h"

namespace aft::viz {
namespace {

std::vector<uint8_t> bytes_of(std::string_view text) {
    return {text.begin(), text.end()};
}

std::vector<std::string> lines_of(const TextLayout& layout, const std::vector<uint8_t>& bytes) {
    std::vector<std::string> lines(size_t(layout.rows));
    for (int64_t row = 0; row < layout.rows; ++row)
        for (int64_t column = 0; column < layout.columns; ++column)
            if (const int64_t i = layout.at({row, column}); i >= 0)
                lines[size_t(row)] += bytes[size_t(i)] == '\n' ? '/' : char(bytes[size_t(i)]);
    return lines;
}

TEST(TextMap, BreaksAtLineEndsAndBetweenWords) {
    const std::vector<uint8_t> bytes = bytes_of("To be, or not\nto be,\n\nthat is");
    const TextLayout wide = lay_out_text(bytes, 40);
    EXPECT_EQ(lines_of(wide, bytes),
              (std::vector<std::string>{"To be, or not/", "to be,/", "/", "that is"}));
    const TextLayout narrow = lay_out_text(bytes, 8);
    EXPECT_EQ(lines_of(narrow, bytes),
              (std::vector<std::string>{"To be, ", "or not/", "to be,/", "/", "that is"}));
    EXPECT_LE(narrow.columns, 8);
}

TEST(TextMap, ALineEndBehindAFullLineTakesNoLineOfItsOwn) {
    const std::vector<uint8_t> bytes = bytes_of("abcdefg\nhi");
    EXPECT_EQ(lines_of(lay_out_text(bytes, 8), bytes),
              (std::vector<std::string>{"abcdefg/", "hi"}));
}

TEST(TextMap, EveryByteHasOnePlaceWhateverTheWidth) {
    std::vector<uint8_t> bytes = bytes_of("a word\tandaverylongonethatnolinecanhold so\r\nit goes");
    for (int i = 0; i < 256; ++i) bytes.push_back(uint8_t(i));
    for (const int64_t columns : {0, 1, 2, 3, 7, 20, 1000}) {
        const TextLayout layout = lay_out_text(bytes, columns);
        ASSERT_EQ(layout.places.size(), bytes.size());
        for (size_t i = 0; i < bytes.size(); ++i) {
            EXPECT_LT(layout.places[i].column, layout.columns);
            ASSERT_EQ(layout.at(layout.places[i]), int64_t(i)) << columns;
        }
    }
    EXPECT_EQ(lay_out_text({}, 10).rows, 0);
}

TEST(TextMap, BytesHaveNames) {
    EXPECT_EQ(byte_words('e'), "'e' 0x65");
    EXPECT_EQ(byte_words('\n'), "newline 0x0A");
    EXPECT_EQ(byte_words(' '), "space 0x20");
    EXPECT_EQ(byte_words(0xC3), "0xC3");
    EXPECT_EQ(byte_glyph('e'), "e");
    EXPECT_EQ(byte_glyph(0xC3), byte_glyph(1));
}

TEST(TextMap, ThePointerHitsTheCharacterUnderItAlsoWhenScrolled) {
    Stage stage(Stage::With::no_opengl);
    std::string text;
    for (int line = 0; line < 60; ++line) text += "line " + std::to_string(line) + "\n";
    const std::vector<uint8_t> bytes = bytes_of(text);
    const std::vector<float> values(bytes.size(), 0.5F);
    TextMap map, other;
    float scroll = 0;
    TextMapView view{.id = "a", .bytes = bytes, .values = values, .version = 1};
    view.area = {400, 200};
    view.scroll = &scroll;
    TextMapReply reply;
    const auto draw = [&] {
        view.id = "a";
        reply = map.draw(view, stage.look);
        view.id = "b";
        (void)other.draw(view, stage.look);
    };
    stage.frame(draw);
    const ImVec2 cell = text_cell(stage.look);
    const ImVec2 at = {reply.box.low.x + 2.5F * cell.x, reply.box.low.y + 1.5F * cell.y};
    stage.mouse = at;
    stage.frame(draw);
    stage.frame(draw);
    EXPECT_EQ(reply.hovered, int64_t(text.find("line 1\n") + 2));
    scroll = cell.y * 10;
    for (int i = 0; i < 3; ++i) stage.frame(draw);
    EXPECT_EQ(scroll, cell.y * 10);
    EXPECT_EQ(reply.hovered, int64_t(text.find("line 11\n") + 2));
    view.target = int64_t(text.find("line 50"));  // comes into view by itself
    for (int i = 0; i < 3; ++i) stage.frame(draw);
    EXPECT_GT(scroll, cell.y * 40);
    EXPECT_LE(scroll, cell.y * 50);
}

}  // namespace
}  // namespace aft::viz
