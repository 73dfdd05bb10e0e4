// Samples that are starred, discarded and taken as the source; Play at another pace.
#include "app/panels/complete/sample_marks.h"

#include "app/panels/complete/sample_reading.h"
#include "tests/app/stage_fixture.h"

namespace aft::app {
namespace {

class SampleMarks : public BareTest {
  protected:
    void complete_mirror() {
        open_mirror();
        run("view.workspace_complete\n");
        ASSERT_TRUE(until([&] { return ui().selection.image.item != nullptr; }));
        complete();
    }
    void complete() {
        run("key Ctrl+Enter\n");
        ASSERT_TRUE(until([&] {
            const auto& own = ui().selection.completion.own;
            return own && own->done;
        }));
        steps(3);
    }
    [[nodiscard]] CompletionChoice& choice() { return ui().selection.completion; }
    [[nodiscard]] std::string why_not(const char* action) {
        return ui().actions.why_not(ui(), action);
    }
    // The numbers of the samples in the order of the screen.
    [[nodiscard]] std::vector<std::string> numbers() {
        std::vector<std::string> out;
        const std::string before = "samples/main/sample_";
        for (const WidgetRecord& widget : ui().recorder.last())
            if (widget.kind == "picture" && widget.path.id.starts_with(before))
                out.push_back(widget.path.id.substr(before.size()));
        return out;
    }
    using Numbers = std::vector<std::string>;
};

TEST_F(SampleMarks, StarredOnesComeFirstAndDiscardedOnesAreNotShown) {
    complete_mirror();
    ASSERT_EQ(numbers(), (Numbers{"1", "2", "3", "4"}));
    EXPECT_EQ(why_not("complete.bring_back"), "No sample is discarded.");
    choice().chosen = 2;
    run("click samples/main/complete.star\nframes 2\n");
    EXPECT_EQ(numbers(), (Numbers{"3", "1", "2", "4"}));
    choice().chosen = 0;
    run("click samples/main/complete.discard\nframes 2\n");
    EXPECT_EQ(numbers(), (Numbers{"3", "2", "4"}));
    EXPECT_EQ(choice().chosen, 1) << "the next one on the screen";
    EXPECT_NE(dump(ui()).find("4 completions, 1 starred, 1 discarded"), std::string::npos)
        << dump(ui());
    run("complete.discard\ncomplete.discard\nframes 2\n");
    EXPECT_EQ(numbers(), (Numbers{"3"}));
    EXPECT_EQ(choice().chosen, 2);
    EXPECT_EQ(why_not("complete.discard"), "It is the only sample that is shown.");
    run("click samples/main/complete.star\nclick samples/main/complete.bring_back\nframes 2\n");
    EXPECT_EQ(numbers(), (Numbers{"1", "2", "3", "4"}));
}

TEST_F(SampleMarks, LastUntilTheNextCompletion) {
    complete_mirror();
    run("complete.star\ncomplete.new_seed\n");
    ASSERT_EQ(choice().starred.size(), 1U);
    complete();
    EXPECT_TRUE(choice().starred.empty());
    choice().position = 200;
    run("complete.star\ncomplete.discard\n");
    ASSERT_EQ(choice().discarded.size(), 1U);
    run("frames 2\ncomplete.from_here\nframes 2\n");
    EXPECT_TRUE(choice().discarded.empty()) << "all samples are drawn anew";
}

// Pixels that differ from before Continue from here, until another completion begins.
TEST_F(SampleMarks, ChangedPixelsAreKnownUntilTheNextCompletion) {
    complete_mirror();
    const auto changed = [&] {
        return changed_pixels(ui().status.config.model, choice(), *choice().own, 0);
    };
    EXPECT_TRUE(changed().empty());
    const auto before = choice().own;
    choice().chosen = 0;
    choice().position = 200;
    choice().level = before->samples.front()[200] == 0 ? 1 : 0;
    run("frames 2\ncomplete.from_here\n");
    ASSERT_TRUE(until([&] { return choice().own != before && choice().own->done; }));
    const std::vector<uint8_t> pixels = changed();
    ASSERT_FALSE(pixels.empty());
    const auto& drawn = choice().own->samples.front();
    const auto channels = size_t(ui().status.config.model.channels);
    for (size_t i = 0; i < pixels.size() && channels == 1; ++i)
        ASSERT_EQ(pixels[i] != 0, drawn[i] != before->samples.front()[i]) << i;
    EXPECT_EQ(pixels[200 / channels], 1);
    complete();
    EXPECT_EQ(choice().changed.count, 0);
    EXPECT_TRUE(changed().empty());
}

TEST_F(SampleMarks, ASampleBecomesTheSource) {
    complete_mirror();
    choice().chosen = 3;
    const auto sample = choice().own->samples.at(3);
    ASSERT_NE(ui().selection.image.item->tokens, sample);
    run("click samples/main/complete.use_as_source\nframes 3\n");
    ASSERT_TRUE(ui().selection.image.item);
    EXPECT_EQ(ui().selection.image.item->tokens, sample);
    EXPECT_EQ(ui().workspace, Workspace::complete);
    EXPECT_NE(dump(ui()).find("sample 4"), std::string::npos);
    run("mask.invert\n");
    complete();
    const auto& now = *choice().own;
    for (size_t i = 0; i < sample.size(); ++i)
        if (now.unknown[i] == 0) {
            ASSERT_EQ(now.samples.front()[i], sample[i]) << i;
        }
}

TEST_F(SampleMarks, NothingToMarkIsSaid) {
    open_mirror();
    run("view.workspace_complete\nframes 2\n");
    for (const char* action : {"complete.star", "complete.discard", "complete.use_as_source"})
        EXPECT_EQ(why_not(action), "There is no completion yet.") << action;
    run("view.workspace_biases\nframes 2\n");
    EXPECT_EQ(why_not("complete.star"), "The samples are in the Complete workspace.");
}

TEST_F(SampleMarks, PlayWalksAsFastAsAsked) {
    complete_mirror();
    run("click play/main/first\nframes 2\n");
    const int64_t first = choice().position;
    run("set play/main/per_second 2000\nframes 2\nclick play/main/play\n");
    const int64_t last = static_cast<int64_t>(choice().own->unknown.size()) - 1;
    for (int i = 0; i < 400 && choice().position != last; ++i) steps(1);  // of 1/60 s
    EXPECT_EQ(choice().position, last) << first << " to " << choice().position << " of " << last;
}

}  // namespace
}  // namespace aft::app
