// The overlay Spread: the standard deviation over the samples, its colours and its unit.
#include "app/panels/complete/sample_overlay.h"

#include "tests/app/stage_fixture.h"

namespace aft::app {
namespace {

TEST(SampleSpread, IsTheDeviationOfWhatIsThere) {
    Completion completion;
    completion.samples = {{0, 1, 2, 0}, {0, 3, 2, 3}};
    completion.unknown = {0, 1, 1, 1};
    completion.position = 3;
    const std::vector<float> spread = sample_spread(completion);
    ASSERT_EQ(spread.size(), 4U);
    EXPECT_TRUE(std::isnan(spread[0])) << "it was known";
    EXPECT_FLOAT_EQ(spread[1], 1);
    EXPECT_FLOAT_EQ(spread[2], 0);
    EXPECT_TRUE(std::isnan(spread[3])) << "it is not drawn yet";
}

TEST(SampleSpread, OfTextsIsTheShareOfOtherBytes) {
    Completion completion;
    completion.samples = {{0, 1, 2, 0}, {0, 3, 2, 3}, {0, 3, 2, 1}, {0, 4, 2, 1}};
    completion.unknown = {0, 1, 1, 1};
    completion.position = 3;
    const std::vector<float> shares = sample_disagreement(completion);
    ASSERT_EQ(shares.size(), 4U);
    EXPECT_TRUE(std::isnan(shares[0])) << "it was given";
    EXPECT_FLOAT_EQ(shares[1], 50) << "two of four have a 3";
    EXPECT_FLOAT_EQ(shares[2], 0);
    EXPECT_TRUE(std::isnan(shares[3])) << "it is not drawn yet";
}

class SampleOverlayTest : public BareTest {
  protected:
    void complete_mirror() {
        open_mirror();
        run("view.workspace_complete\nframes 3\n");
        ASSERT_TRUE(until([&] { return ui().selection.image.item != nullptr; }));
        run("complete.start\nframes 2\n");
        ASSERT_TRUE(until([&] {
            const auto& own = ui().selection.completion.own;
            return own && own->done && !own->samples.empty();
        }));
    }
};

TEST_F(SampleOverlayTest, SpreadHasABarAndAUnit) {
    complete_mirror();
    if (HasFatalFailure()) return;
    steps(2);
    EXPECT_FALSE(is_there("samples/main/overlay_colours"));
    run("click samples/main/overlay=spread\nframes 3\n");
    EXPECT_EQ(ui().selection.completion.overlay, Overlay::spread);
    const std::string words = value_of("samples/main/overlay_colours");
    EXPECT_NE(words.find("standard deviation over 4 samples, levels: 0 to "), std::string::npos)
        << words;
    run("click samples/main/overlay=bits\nframes 3\n");
    EXPECT_NE(value_of("samples/main/overlay_colours").find(", bit: 0 to 4.00"), std::string::npos)
        << value_of("samples/main/overlay_colours");
}

TEST_F(SampleOverlayTest, TheOriginalHasTheBitsOfItsProbe) {
    complete_mirror();
    if (HasFatalFailure()) return;
    run("click samples/main/overlay=original\nframes 3\n");
    ASSERT_TRUE(until([&] { return is_there("samples/main/overlay_colours"); }));
    EXPECT_NE(value_of("samples/main/overlay_colours").find("Surprise of the original level, bit"),
              std::string::npos);
    ProbeRequest request;
    request.probe = "predictions";
    request.tokens = ui().selection.image.item->tokens;
    const FieldSetPtr fields = ask(request);
    ASSERT_NE(fields, nullptr);
    const Field& field = fields->fields.front();
    const auto levels = size_t(field.extent(1));
    const std::vector<uint8_t>& unknown = ui().selection.completion.own->unknown;
    double bits = 0, count = 0;
    for (size_t i = 0; i < unknown.size(); ++i)
        if (unknown[i] != 0) {
            bits -= double(field.values[i * levels + request.tokens[i]]) / std::log(2.0);
            ++count;
        }
    const char* const shown = "sampling/numbers/original";
    ASSERT_TRUE(until([&] { return !value_of(shown).empty() && value_of(shown)[0] != '\xE2'; }));
    EXPECT_NEAR(std::stod(value_of(shown)), bits / count, 0.006);
}

}  // namespace
}  // namespace aft::app
