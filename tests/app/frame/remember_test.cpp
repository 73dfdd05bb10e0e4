// What the window remembers of a run and of its own: names, tags, notes, pins, the locked cell, how
// maps and brush were set.
#include <nlohmann/json.hpp>

#include "app/state/user_settings_text.h"
#include "tests/app/stage_fixture.h"

namespace aft::app {
namespace {

class Remember : public BareTest {
  protected:
    void open_file(const std::string& name) {
        stage_->frame().open(source_file("assets/demo/" + name + ".safetensors").string());
        run("frames 2\nwait Ready\n");
        ASSERT_TRUE(until(
            [&] { return ui().status.path.find(name) != std::string::npos && ui().has_model(); }));
        steps(2);
    }
};

TEST_F(Remember, NotesAndViewGoThroughTheFileAndBack) {
    UserSettings settings;
    RunNotes& notes = settings.notes["/runs/one"];
    notes = {.name = "gr\xC3\xBC\xC3\x9F", .tag = "base", .note = "slow\nbut sure"};
    const Cell cell{.layer = 1, .head = 2, .target = 9, .source = 4};
    notes.pins = {{.cell = cell, .step = 40, .words = cell_words(cell), .note = "here"}};
    notes.locked = cell;
    notes.mask = {.height = 2, .width = 3, .values = {0, 1, 1, 0, 0, 1}};
    notes.recipe.interventions = {{.name = "zero", .layer = 1, .options = {}}};
    settings.notes["/runs/empty"] = {};
    settings.view = {.quantity = 3, .gauge = 1, .range_mode = 2, .scale = 1, .tool = 2, .brush = 0};
    settings.window_width = 1300;
    settings.window_height = 850;
    const UserSettings back = parse_user_settings(user_settings_text(settings));
    ASSERT_TRUE(back.notes.contains("/runs/one"));
    EXPECT_EQ(back.notes.at("/runs/one"), notes);
    EXPECT_FALSE(back.notes.contains("/runs/empty")) << "nothing was said of it";
    EXPECT_EQ(back.view, settings.view);
    EXPECT_EQ(back.window_width, 1300);
    EXPECT_EQ(back.window_height, 850);
    EXPECT_EQ(back.shown_name_of("/runs/one", "one"), notes.name);
    EXPECT_EQ(back.shown_name_of("/runs/two", "two"), "two");
}

TEST_F(Remember, NumbersOutOfRangeComeToItsEnd) {
    const UserSettings back = parse_user_settings(
        R"({"view": {"quantity": 99, "gauge": -5, "brush": 1e300, "tool": 7},
            "notes": {"/a": {"pins": [{"cell": {"layer": 1e300, "head": -9}, "step": -1}]}}})");
    EXPECT_EQ(back.view.quantity, 3);
    EXPECT_EQ(back.view.gauge, 0);
    EXPECT_EQ(back.view.brush, 8);
    EXPECT_EQ(back.view.tool, 2);
    const Pin& pin = back.notes.at("/a").pins.at(0);
    EXPECT_EQ(pin.cell.head, -1);
    EXPECT_LE(pin.cell.layer, int64_t{1} << 20);
    EXPECT_EQ(pin.step, 0);
}

TEST_F(Remember, PinsAndTheLockedCellComeBackWithTheirRun) {
    initialize_model("cpu", 1);
    make();
    open_file("mirror");
    const Cell cell{.layer = 1, .target = 200, .source = 13};
    ui().selection.lock(cell);
    ui().selection.pin(ui().shown_step());
    ui().selection.pins.back().note = "the mirrored pixel";
    open_file("shapes");
    EXPECT_TRUE(ui().selection.pins.empty());
    EXPECT_FALSE(ui().selection.locked);
    open_file("mirror");
    ASSERT_EQ(ui().selection.pins.size(), 1U);
    EXPECT_EQ(ui().selection.pins[0].note, "the mirrored pixel");
    EXPECT_EQ(ui().selection.pins[0].cell.target, 200);
    EXPECT_TRUE(ui().selection.locked);
    EXPECT_EQ(ui().selection.cell, cell);
}

TEST_F(Remember, TheMaskAndTheListOfTheLabComeBackWithTheirRun) {
    initialize_model("cpu", 1);
    FrameOptions options;
    options.settings_file = scratch_ / "window.json";
    make(options);
    open_file("mirror");
    run("view.workspace_complete\nframes 4\n");
    viz::MaskCanvas& mask = ui().selection.completion.mask;
    ASSERT_FALSE(mask.mask().empty());
    mask.apply(viz::MaskPreset::border);
    const std::vector<uint8_t> wanted(mask.mask().begin(), mask.mask().end());
    ui().selection.lab.recipe.interventions = {{.name = "zero", .layer = 1, .options = {}}};
    const Recipe recipe = ui().selection.lab.recipe;
    steps(2);
    stage_->frame().save_settings();
    make(options);
    EXPECT_TRUE(ui().selection.completion.mask.mask().empty());
    open_file("mirror");
    run("view.workspace_complete\nframes 4\n");
    const auto shown = ui().selection.completion.mask.mask();
    EXPECT_TRUE(std::equal(wanted.begin(), wanted.end(), shown.begin(), shown.end()));
    EXPECT_EQ(ui().selection.lab.recipe, recipe);
}

TEST_F(Remember, QuantityAndBrushStayForTheNextStart) {
    FrameOptions options;
    options.settings_file = scratch_ / "window.json";
    make(options);
    EXPECT_EQ(ui().selection.quantity, Quantity::exp_minus_one);
    ui().selection.quantity = Quantity::row_share;
    ui().selection.completion.brush = 4;
    stage_->frame().save_settings();
    make(options);
    EXPECT_EQ(ui().selection.quantity, Quantity::row_share);
    EXPECT_EQ(ui().selection.completion.brush, 4);
}

TEST_F(Remember, RunsAreNamedAndForgottenInTheExplorer) {
    make();
    const std::string path = scratch_ / "run-a";
    ui().settings.remember({.path = path, .name = "run-a", .what = "", .opened = 1});
    run("view.workspace_train\nframes 4\n");
    const std::string row = "explorer/runs/" + path, more = "explorer/runs/more/" + path;
    ASSERT_TRUE(is_there(row));
    run("click " + more + "\nframes 3\nset explorer/runs/run_name mine\nframes 2\n");
    run("set explorer/runs/run_tag baseline\nframes 2\nkey Esc\nframes 3\n");
    EXPECT_EQ(value_of(row), "mine");
    run("set explorer/main/filter base\nframes 3\n");
    EXPECT_TRUE(is_there(row)) << "found by its tag";
    run("set explorer/main/filter other\nframes 3\n");
    EXPECT_FALSE(is_there(row));
    ui().recorder.scripted.request("explorer/main/filter", "");
    steps(3);
    run("click " + more + "\nframes 3\nclick explorer/runs/forget_run\nframes 4\n");
    EXPECT_FALSE(is_there(row));
    EXPECT_TRUE(ui().settings.recent.empty());
    EXPECT_FALSE(ui().settings.notes.contains(path));
}

TEST_F(Remember, PinsAreNamedAndRemoved) {
    make(fed(feed_small));
    ui().settings.remember({.path = "/runs/a", .name = "a", .what = ""});
    run("view.workspace_train\nframes 3\nselection.pin\nframes 3\n");
    ASSERT_EQ(ui().selection.pins.size(), 1U);
    run("click explorer/pins/more/pin_0\nframes 3\nset explorer/pins/pin_name corner\nframes 3\n");
    EXPECT_EQ(value_of("explorer/pins/pin_0"), "corner");
    run("click explorer/pins/remove_pin\nframes 4\n");
    EXPECT_TRUE(ui().selection.pins.empty());
}

TEST_F(Remember, ManyRunsLeaveTheLayersInView) {
    make(fed(feed_small));
    for (int i = 0; i < 24; ++i)
        ui().settings.remember(
            {.path = fmt::format("/runs/{}", i), .name = fmt::format("r{}", i), .what = ""});
    run("view.workspace_train\nframes 4\n");
    const WidgetRecord* const layer = ui().recorder.find("explorer/layers/layer_1");
    ASSERT_NE(layer, nullptr);
    EXPECT_TRUE(layer->visible);
}

}  // namespace
}  // namespace aft::app
