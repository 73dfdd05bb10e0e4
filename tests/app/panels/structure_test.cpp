// Structure: the numbers of the probes on the screen, sorted, and a row that selects.
#include "model/jobs/probe.h"
#include "tests/app/stage_fixture.h"

namespace aft::app {
namespace {

class StructureWindow : public BareTest {
  protected:
    void open_run() {
        open_trained_run();
        run("view.workspace_biases\nframes 4\nclick structure/main/tab\nframes 4\n");
    }
};

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
