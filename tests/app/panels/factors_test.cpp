// Factors: the components on the screen are those that the command writes.
#include "model/jobs/probe.h"
#include "tests/app/stage_fixture.h"

namespace aft::app {
namespace {

class FactorsWindow : public BareTest {};

TEST_F(FactorsWindow, ShowsTheComponentsThatTheProbeWrites) {
    open_mirror();
    run("view.workspace_biases\nframes 4\nclick factors/main/tab\nframes 4\n");
    const auto words = [&] { return value_of("factors/main/components"); };
    ASSERT_TRUE(until([&] { return !words().empty(); })) << dump(ui());
    ProbeJob job;
    job.probe = "components";
    job.model = ui().status.path;
    job.out = (scratch_ / "components.npy").string();
    const ProbeResult result = probe_job(job, {});
    EXPECT_EQ(result.shape, (std::vector<int64_t>{8, ui().status.tokens}));
    EXPECT_NE(words().find("8 components"), std::string::npos) << words();
    const std::string first = words();
    run("key ]\nframes 4\n");
    ASSERT_TRUE(until([&] { return words() != first; })) << "of another layer";
    run("click factors/main/lab.rank_selected\nframes 4\n");
    EXPECT_EQ(ui().workspace, Workspace::lab);
    ASSERT_EQ(ui().selection.lab.recipe.interventions.size(), 1u);
    EXPECT_EQ(ui().selection.lab.recipe.interventions[0].name, "low-rank");
    EXPECT_EQ(ui().selection.lab.recipe.interventions[0].layer, ui().selection.cell.layer);
}

}  // namespace
}  // namespace aft::app
