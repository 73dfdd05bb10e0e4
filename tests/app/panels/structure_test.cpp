// Structure: the numbers of the probes on the screen, sorted, and a row that selects.
#include "model/jobs/probe.h"
#include "tests/app/stage_fixture.h"

namespace aft::app {
namespace {

class StructureWindow : public BareTest {
  protected:
    void open_run() {
        open_trained_run();
        show();
    }
    void show() { run("view.workspace_biases\nframes 4\nclick structure/main/tab\nframes 4\n"); }
    // A model whose window of the raster order cuts something off.
    void open_window() {
        initialize_model("cpu", 1);
        OpenRequest request;
        request.config = tiny_config();
        request.config->model.mixer = "aft-local";
        request.config->model.own["window"] = int64_t{8};
        request.config->train.steps = 20;
        request.out = (scratch_ / "window").string();
        make();
        ui().commands.send(OpenRun{std::move(request)});
        run("frames 2\nwait Ready\nrun.start\nwait Stopped\nframes 5\n");
        show();
    }
};

TEST_F(StructureWindow, AWindowHasItsOwnColumnsAndTheSharesOfItsEdge) {
    open_window();
    const auto row = [&] { return value_of("structure/main/heads:l1_h0"); };
    ASSERT_TRUE(until([&] { return !row().empty(); })) << dump(ui());
    for (const char* const column : {"window_50", "window_90", "edge", "edge_if_even", "inside"}) {
        const WidgetRecord* const head =
            ui().recorder.find(std::string("structure/main/heads:by_") + column);
        ASSERT_NE(head, nullptr) << column;
        EXPECT_TRUE(head->visible) << column;
    }
    EXPECT_FALSE(is_there("structure/main/heads:by_within_50"))
        << "beyond it every source is alike";
    ProbeJob job;
    job.probe = "window";
    job.model = ui().status.path;
    job.layer = 1;
    job.out = (scratch_ / "window.npy").string();
    EXPECT_EQ(probe_job(job, {}).shape.at(1), 8);
    ProbeRequest request;
    request.probe = "window";
    request.layer = 1;
    const FieldSetPtr fields = ask(request);
    ASSERT_NE(fields, nullptr);
    const std::vector<float>& numbers = fields->fields.front().values;
    for (const size_t share : {2, 3, 4}) {  // edge, edge if even, inside
        const std::string shown = fmt::format("{:.1f}", 100 * double(numbers.at(share)));
        EXPECT_NE(row().find(shown), std::string::npos) << shown << " in " << row();
    }
    EXPECT_NE(value_of("structure/main/hover_line").find("8 tokens"), std::string::npos);
    run("set structure/main/sort_by edge\nframes 4\n");
    EXPECT_EQ(value_of("structure/main/sort_by"), "Edge of the window");
}

// Where the pane is narrower, the last columns lie beyond its edge.
TEST_F(StructureWindow, ColumnsThatDoNotFitScroll) {
    open_window();
    ASSERT_TRUE(until([&] { return is_there("structure/main/heads:l1_h0"); }));
    const auto last = [&] { return ui().recorder.find("structure/main/heads:by_rank_99"); };
    ASSERT_TRUE(until([&] { return last() != nullptr; }));
    EXPECT_TRUE(last()->visible) << "all columns fit into 1600 pixels";
    stage_->set_size({1000, 700});
    EXPECT_TRUE(until([&] { return last() != nullptr && !last()->visible; })) << dump(ui());
}

TEST_F(StructureWindow, RowsAreTheProbesNumbersAndSelectTheirLayer) {
    open_run();
    const auto row = [&](int layer) {
        return value_of("structure/main/heads:l" + std::to_string(layer) + "_h0");
    };
    ASSERT_TRUE(until([&] { return !row(0).empty() && !row(1).empty(); })) << dump(ui());
    EXPECT_NE(value_of("structure/main/caption").find(ui().status.name + ", step "),
              std::string::npos)
        << "a picture of it is understood alone";
    ProbeJob job;
    job.probe = "reach";
    job.model = ui().status.path;
    job.layer = 1;
    job.out = (scratch_ / "reach.npy").string();
    const ProbeResult result = probe_job(job, {});
    EXPECT_EQ(result.shape.at(1), 8);
    const std::string furthest = fmt::format("{:.0f}", result.max);
    EXPECT_NE(row(1).find(furthest), std::string::npos) << row(1);
    run("frames 4\nclick structure/main/heads:l1_h0\nframes 2\n");
    EXPECT_EQ(ui().selection.cell.layer, 1);
    run("set structure/main/sort_by within_90\nframes 2\n");
    EXPECT_FALSE(row(0).empty());
}

TEST_F(StructureWindow, SymmetryStandsWhereItIsDefined) {
    open_run();
    const auto row = [&] { return value_of("structure/main/heads:l1_h0"); };
    ASSERT_TRUE(until([&] { return is_there("structure/main/heads:by_left_right"); }))
        << dump(ui());
    EXPECT_FALSE(is_there("structure/main/heads:by_exchange")) << "causal";
    ASSERT_TRUE(until([&] { return !row().empty(); })) << dump(ui());
    ProbeJob job;
    job.probe = "symmetry";
    job.model = ui().status.path;
    job.layer = 1;
    job.out = (scratch_ / "symmetry.npy").string();
    const ProbeResult result = probe_job(job, {});
    EXPECT_EQ(result.shape.at(1), 3);
    EXPECT_NE(row().find(fmt::format("{:.1f}", 100 * result.max)), std::string::npos) << row();
}

TEST_F(StructureWindow, AHeadOfTheTableSortsByItAndBack) {
    open_run();
    ASSERT_TRUE(until([&] { return !value_of("structure/main/heads:l1_h0").empty(); }));
    const std::string by_position = value_of("structure/main/sort_by");
    run("click structure/main/heads:by_mean_distance\nframes 4\n");
    EXPECT_EQ(value_of("structure/main/sort_by"), "Mean distance");
    run("click structure/main/heads:by_mean_distance\nframes 4\n");
    EXPECT_EQ(value_of("structure/main/sort_by"), by_position);
}

}  // namespace
}  // namespace aft::app
