// Views are whole: what each workspace holds is there again when its file is opened, also from
// another folder and for a run that was opened by a relative path.
#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "app/state/view_compare.h"
#include "app/state/view_file.h"
#include "core/files.h"
#include "tests/app/stage_fixture.h"

namespace aft::app {
namespace {

namespace fs = std::filesystem;

class WholeViews : public BareTest {
  protected:
    void SetUp() override { before_ = fs::current_path(); }
    void TearDown() override {
        fs::current_path(before_);
        BareTest::TearDown();
    }
    void close() {
        ui().commands.send(CloseModel{});
        run("frames 3\n");
        ui().selection = {};
        ui().workspace = Workspace::home;
    }
    void open(const std::string& path) {
        stage_->frame().open(path);
        ASSERT_TRUE(until([&] { return ui().has_model(); })) << dump(ui());
        run("frames 5\n");
    }
    // A trained run, opened by its name alone in the folder where it lies.
    void open_by_name() {
        open_trained_run();
        close();
        fs::current_path(scratch_.path());
        open("run");
    }
    // Something in every workspace that is not as it begins.
    void choose() {
        Selection& selection = ui().selection;
        run("view.workspace_complete\nframes 6\n");
        selection.completion.mask.begin(viz::PaintTool::brush, 1, {0, 0});
        selection.completion.mask.end();
        selection.completion.prompt = "KING:\n";
        selection.completion.length = 33;
        selection.completion.pictures = {0, 1, 2, 9};
        selection.relative_examples = 5;
        selection.completion.overlay = Overlay::spread;
        run("view.workspace_attention\nframes 6\nset attention/main/parts all\n"
            "set attention/main/reduce mean\nframes 4\n");
        run("view.workspace_biases\nframes 4\nclick structure/main/tab\nframes 4\n"
            "set structure/main/sort_by within_90\nframes 4\nclick focus/main/tab\nframes 20\n"
            "click focus/main/zoom_in\nframes 4\n");
        selection.lab.recipe.interventions = {{.name = "zero", .layer = 1, .options = {}}};
        selection.lab.first = 3;
        selection.lab.examples = 8;
        selection.compare.slots = {{},
                                   {.path = "run", .step = ui().history.front()},
                                   {.recipe = selection.lab.recipe, .recipe_name = "nothing"}};
        run("view.workspace_compare\nframes 4\nset compare/main/below heads\n"
            "set compare/main/compared_with slot_c\nframes 4\n");
        ASSERT_EQ(selection.parts, 2);
        ASSERT_EQ(selection.reduce, 1);
        ASSERT_EQ(selection.completion.pictures.size(), 4U);
        ASSERT_NE(selection.structure_sort, 0);
        ASSERT_GT(selection.focus.zoom, 0);
        ASSERT_EQ(selection.compare.other, 2U);
        ASSERT_EQ(selection.compare.lower, 2);
    }

    fs::path before_;  // the folder that the program is in
};

TEST_F(WholeViews, OfEveryWorkspaceComeBackFromAnotherFolder) {
    open_by_name();
    choose();
    for (const Workspace workspace : kWorkspaces) {
        if (workspace == Workspace::home) continue;
        fs::current_path(scratch_.path());
        ui().commands.send(ShowWorkspace{workspace});
        run("frames 6\n");
        const std::string text = view_text(view_of(ui()));
        const std::string file = scratch_ / "whole.json";
        write_view_file(file, view_of(ui()));
        close();
        fs::current_path("/");
        open(file);
        EXPECT_TRUE(until([&] { return view_text(view_of(ui())) == text; }))
            << workspace_id(workspace) << "\nbefore: " << text
            << "\nafter: " << view_text(view_of(ui()));
    }
}

TEST_F(WholeViews, SlotsAreReadFromWhereTheyLie) {
    open_by_name();
    ui().selection.compare.slots = {{}, {.path = "run", .step = ui().history.front()}};
    run("view.workspace_compare\nframes 4\n");
    const std::string file = scratch_ / "compared.json";
    write_view_file(file, view_of(ui()));
    close();
    fs::current_path("/");
    open(file);
    EXPECT_TRUE(until([&] { return is_there("compare/main/map_1"); })) << dump(ui());
    EXPECT_EQ(dump(ui()).find("no longer there"), std::string::npos);
}

// A file from outside may name a slot that it does not have.
TEST(ViewCompare, TheOtherSlotIsOneThatIsThere) {
    CompareChoice choice;
    take_compare(nlohmann::json::parse(
                     R"({"slots": [{"path": "/a"}, {"path": "/b"}], "other": 3, "view": "split"})"),
                 choice);
    EXPECT_EQ(choice.slots.size(), 2U);
    EXPECT_EQ(choice.other, 1U);
}

TEST_F(WholeViews, TheMaskOnTheScreenIsTheOneThatWasSaved) {
    open_by_name();
    run("view.workspace_complete\nframes 6\n");
    viz::MaskCanvas& mask = ui().selection.completion.mask;
    mask.apply(viz::MaskPreset::border);
    const std::vector<uint8_t> wanted(mask.mask().begin(), mask.mask().end());
    const std::string file = scratch_ / "masked.json";
    write_view_file(file, view_of(ui()));
    close();
    open(file);
    run("frames 6\n");
    const auto shown = ui().selection.completion.mask.mask();
    EXPECT_TRUE(std::equal(wanted.begin(), wanted.end(), shown.begin(), shown.end()));
    EXPECT_FALSE(ui().selection.completion.mask.can_undo());
}

TEST_F(WholeViews, PicturesOfAViewAreLightUnlessAskedFor) {
    open_by_name();
    run("view.workspace_biases\nframes 4\nkey Ctrl+E\nframes 3\n"
        "click view_card/main/format=picture\nframes 2\n");
    EXPECT_EQ(value_of("view_card/main/ground"), "Light") << dump(ui());
}

}  // namespace
}  // namespace aft::app
