// Watched: the curves of pins are what the probe says at every stored step.
#include "app/panels/shared/formation_rows.h"
#include "core/text.h"
#include "model/jobs/probe.h"
#include "tests/app/stage_fixture.h"
#include "tests/core/read_npy.h"

namespace aft::app {
namespace {

class WatchedWindow : public BareTest {
  protected:
    void open_run() {
        open_trained_run(12);
        run("view.workspace_biases\nframes 4\nclick watched/main/tab\nframes 4\n");
    }
    [[nodiscard]] std::string plot(const std::string& title) {
        return value_of("watched/main/" + title);
    }
};

TEST_F(WatchedWindow, APinIsMeasuredAtEveryStoredStep) {
    open_run();
    const size_t count = ui().history.size();
    ASSERT_GT(count, 2u);
    Selection& selection = ui().selection;
    selection.quantity = Quantity::w;
    selection.gauge = Gauge::raw;
    selection.lock({.layer = 1, .target = 5, .source = 3});
    run("selection.pin\nframes 3\n");
    const std::string whole = fmt::format("1 curves, {} points", count);
    const auto begins = [&](const std::string& title) {
        return plot(title).starts_with(whole + ", last ");
    };
    ASSERT_TRUE(until([&] { return begins("cells") && begins("norms"); })) << dump(ui());
    ProbeJob job;
    job.probe = "bias";
    job.model = ui().status.path;
    job.layer = 1;
    job.out = (scratch_ / "w.npy").string();
    (void)probe_job(job, {});
    const auto T = size_t(ui().status.tokens);
    const float w = read_npy(job.out).values.at(5 * T + 3);
    EXPECT_EQ(plot("cells"), whole + ", last " + exact_number(w));
    // Another number of the same answer: nothing is read for it.
    const std::string rms = plot("norms");
    run("click watched/main/number=entropy\nframes 3\n");
    EXPECT_TRUE(begins("norms")) << plot("norms");
    EXPECT_NE(plot("norms"), rms);
    // Attention and loss have whole weights at saved steps alone.
    ASSERT_TRUE(until([&] { return plot("loss").find("last") != std::string::npos; }))
        << dump(ui());
    EXPECT_NE(plot("attention").find("1 curves"), std::string::npos) << dump(ui());
    run("selection.remove_pins\nframes 3\n");
    EXPECT_EQ(plot("cells"), "") << "nothing is pinned any more";
    EXPECT_NE(plot("loss"), "");
}

// A step that comes a second time after a rewind has other biases, also where nobody looked
// meanwhile.
TEST_F(WatchedWindow, ARewindMeasuresAnew) {
    make();
    open_tiny_run(60);
    const auto train = [&] {
        run("run.start\n");
        return until(
            [&] { return ui().status.step == 60 && ui().status.state == RunState::stopped; });
    };
    const auto measured = [&] {
        run("view.workspace_biases\nframes 4\nclick watched/main/tab\nframes 4\n");
        const std::string whole = fmt::format("{} points", ui().history.size());
        EXPECT_TRUE(until([&] { return plot("cells").find(whole) != std::string::npos; }));
        const std::string words = plot("cells");
        return words.substr(words.find("last "));
    };
    ASSERT_TRUE(train());
    ui().selection.lock({.layer = 0, .target = 9, .source = 2});
    run("selection.pin\n");
    const std::string before = measured();
    ASSERT_EQ(ui().history.back(), 60);
    run("view.workspace_home\nframes 3\n");
    session().run().rewind(20);
    ASSERT_TRUE(until([&] { return ui().status.rewinds > 0 && ui().status.step == 20; }));
    session().run().set("train.learning_rate", "0.03");
    ASSERT_TRUE(train());
    ASSERT_TRUE(until([&] { return ui().history.back() == 60; }));
    EXPECT_NE(measured(), before);
}

// Layers may have different numbers of heads, or no position bias.
TEST(FormationRows, AreFoundWhereLayersDiffer) {
    Field field;
    field.notes["heads"] = "1 0 4 2";
    EXPECT_EQ(formation_heads(field), (std::vector<size_t>{1, 0, 4, 2}));
    EXPECT_EQ(formation_row(field, 0, -1), 0u);
    EXPECT_EQ(formation_row(field, 1, 0), std::nullopt);
    EXPECT_EQ(formation_row(field, 2, 3), 4u);
    EXPECT_EQ(formation_row(field, 3, 1), 6u);
    EXPECT_EQ(formation_row(field, 3, 2), std::nullopt);
    EXPECT_EQ(formation_row(field, 4, 0), std::nullopt);
}

TEST_F(WatchedWindow, SaysWhatToDoWhereNothingIsWatched) {
    open_run();
    ASSERT_TRUE(until([&] { return !plot("loss").empty(); })) << dump(ui());
    EXPECT_EQ(plot("cells"), "");
    EXPECT_NE(dump(ui()).find("P pins what is selected"), std::string::npos) << dump(ui());
}

}  // namespace
}  // namespace aft::app
