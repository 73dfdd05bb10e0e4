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
    EXPECT_NE(value_of("factors/main/caption").find(ui().status.name + ", step "),
              std::string::npos)
        << "a picture of it is understood alone";
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

TEST_F(FactorsWindow, TheLossAgainstRankIsTheOneThatEvalMeasures) {
    open_trained_run();
    ui().selection.lab.examples = 8;
    run("view.workspace_biases\nframes 4\nclick factors/main/tab\nframes 4\n");
    const auto words = [&] { return value_of("factors/main/of_this_rank"); };
    ASSERT_TRUE(until([&] { return words().starts_with("rank 4 of "); })) << dump(ui());
    EXPECT_EQ(words().find("loss"), std::string::npos) << "until it is asked for";
    run("set factors/main/rank 2\nframes 2\nclick factors/main/loss_against_rank\nframes 4\n");
    ASSERT_TRUE(until([&] { return words().find(", 8 examples") != std::string::npos; }))
        << words();
    EXPECT_TRUE(words().starts_with("rank 2 of ")) << words();
    const Recipe recipe{
        .interventions = {
            {.name = "low-rank", .layer = ui().selection.cell.layer, .options = {{"rank", "2"}}}}};
    EvalRequest request;
    request.model = ui().status.path;
    request.data = ui().status.config.data.source;
    request.recipe = (scratch_ / "low-rank-2.json").string();
    write_recipe(request.recipe, recipe, "test");
    request.index = 0;
    request.limit = 8;
    const EvalResult result = eval_job(request, {});
    ASSERT_TRUE(result.change);
    const std::string measured = words().substr(words().find(", loss ") + 7);
    EXPECT_NEAR(std::stod(measured), result.change->metric.mean, 2e-5) << words();
    ASSERT_TRUE(until([&] { return value_of("factors/main/loss_over_rank") != "0 points"; }));
    run("click factors/main/copy_loss_command\nframes 2\n");
    const std::string command = ImGui::GetClipboardText();
    EXPECT_NE(command.find("low-rank-2.json"), std::string::npos) << command;
    EXPECT_NE(command.find("afterimage eval"), std::string::npos) << command;
}

}  // namespace
}  // namespace aft::app
