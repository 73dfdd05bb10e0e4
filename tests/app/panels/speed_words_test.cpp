// Speed: a row that was disturbed has both times and the reason, and no ratio.
#include <gtest/gtest.h>

#include "app/panels/lab/lab_speed_words.h"

namespace aft::app {
namespace {

bench::TimedRow timed_row() {
    bench::TimedRow row;
    row.forms = {{.name = "ours", .precision = "fp32", .is_ours = true, .median_ms = 0.5},
                 {.name = "softmax",
                  .precision = "fp32",
                  .median_ms = 1.25,
                  .ratio = 2.5,
                  .ratio_low = 2.25,
                  .ratio_high = 2.75}};
    return row;
}

TEST(SpeedWords, AQuietMachineGivesARatio) {
    const bench::TimedRow row = timed_row();
    EXPECT_EQ(speed_verdict(row), "2.50 times as fast as softmax attention (2.25 to 2.75)");
    EXPECT_EQ(ratio_words(row, row.forms[1]), "2.50 (2.25 to 2.75)");
    EXPECT_EQ(why_no_ratio(row), "");
}

TEST(SpeedWords, AContendedOneGivesBothTimesAndTheReason) {
    bench::TimedRow row = timed_row();
    row.is_contended = true;
    row.others = 0.69;
    EXPECT_EQ(speed_verdict(row), "no ratio: ours 500.0 \u00B5s, softmax attention 1.25 ms");
    EXPECT_EQ(ratio_words(row, row.forms[1]), "\u2013");
    EXPECT_NE(why_no_ratio(row).find("69 %"), std::string::npos);
}

TEST(SpeedWords, OneWhoseSpeedMovedSaysThat) {
    bench::TimedRow row = timed_row();
    row.forms[1].ratio = 0;
    EXPECT_EQ(speed_verdict(row), "no ratio: ours 500.0 \u00B5s, softmax attention 1.25 ms");
    EXPECT_NE(why_no_ratio(row).find("speed of the machine"), std::string::npos);
}

}  // namespace
}  // namespace aft::app
