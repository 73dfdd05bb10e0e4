// The words of a plot's events lie on no others, whatever the order of their lines.
#include "viz/event_texts.h"

#include <gtest/gtest.h>

namespace aft::viz {
namespace {

TEST(EventTexts, StandBesideTheirLinesInTheFirstFreeRow) {
    std::vector<EventText> texts = {{300, 320}, {100, 120}, {310, 330}, {305, 325}};
    place_event_texts(texts);
    EXPECT_EQ(texts[0].row, 0);
    EXPECT_EQ(texts[1].row, 0) << "a line at the left of an earlier one";
    EXPECT_EQ(texts[2].row, 1) << "two at one place";
    EXPECT_EQ(texts[3].row, 2);
}

TEST(EventTexts, ManyTakeOneRow) {
    std::vector<EventText> texts;
    for (int i = 0; i < 9; ++i) texts.push_back({float(i * 10), float(i * 10 + 15)});
    place_event_texts(texts);
    for (size_t i = 0; i < texts.size(); ++i) EXPECT_EQ(texts[i].row, i % 2 == 0 ? 0 : -1) << i;
}

}  // namespace
}  // namespace aft::viz
