// Views: what is on the screen as a file that opens it again; files of strangers are refused in
// words and close nothing.
#include "app/state/view_file.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>

#include "core/caught.h"
#include "tests/app/stage_fixture.h"

namespace aft::app {
namespace {

namespace fs = std::filesystem;

class ViewFiles : public BareTest {
  protected:
    void open_run() {
        open_trained_run();
        run_ = ui().status.path;
    }
    std::string write(const std::string& text) {
        const std::string file = (scratch_ / "stranger.json").string();
        std::ofstream(file) << text;
        return file;
    }
    [[nodiscard]] std::string problem_of(const std::string& text) {
        const std::string file = write(text);
        return error_words([&] { (void)read_view_file(file); });
    }
    std::string run_;
};

TEST_F(ViewFiles, OpensWhatWasOnTheScreen) {
    open_run();
    run("view.workspace_biases\nframes 4\nclick statistics/main/tab\nframes 4\n");
    Selection& selection = ui().selection;
    selection.lock({.layer = 1, .target = 5, .source = 3});
    selection.pin(ui().history.front());
    selection.quantity = Quantity::row_share;
    selection.range_by_hand = Range{0, 0.25};
    selection.completion.sample.temperature = 0.5;
    selection.lab.recipe.interventions = {{.name = "zero", .layer = 1, .options = {}}};
    ui().commands.send(ShowStep{ui().history.front()});
    run("frames 3\n");
    (void)selection.compare.add({.path = run_, .step = 0});
    const SavedView before = view_of(ui());
    const std::string file = (scratch_ / "seen.json").string();
    run("file.save_view\nframes 3\nset view_card/main/file " + file +
        "\nclick view_card/main/save\nframes 3\n");
    ASSERT_TRUE(std::filesystem::is_regular_file(file)) << dump(ui());

    ui().commands.send(CloseModel{});
    run("frames 3\n");
    selection = {};
    ui().workspace = Workspace::home;
    stage_->frame().open(file);
    ASSERT_TRUE(until([&] { return ui().has_model() && ui().workspace == Workspace::biases; }));
    run("frames 6\n");
    const SavedView after = view_of(ui());
    EXPECT_EQ(after.model, before.model);
    EXPECT_EQ(after.step, ui().history.front());
    EXPECT_EQ(after.place, before.place);
    EXPECT_EQ(after.maps.quantity, Quantity::row_share);
    EXPECT_EQ(after.maps.range_by_hand, before.maps.range_by_hand);
    EXPECT_EQ(after.compare.slots, before.compare.slots);
    EXPECT_EQ(after.lab.recipe, before.lab.recipe);
    EXPECT_EQ(after.completion.sample.temperature, 0.5);
    EXPECT_EQ(after.panes, before.panes);
    EXPECT_EQ(value_of("statistics/main/tab"), "shown");
}

TEST_F(ViewFiles, APictureOfThePanesInTheMiddleIsDue) {
    open_run();
    run("view.workspace_biases\nframes 4\n");
    const std::string file = (scratch_ / "seen.png").string();
    stage_->pictures.pixels = [] {
        Image whole{1600, 1000, 3, std::vector<uint8_t>(size_t{1600} * 1000 * 3, 7)};
        whole.pixels[0] = 200;  // in a corner that the picture does not have
        return whole;
    };
    run("key Ctrl+E\nframes 3\nclick view_card/main/format=picture\nframes 2\nset "
        "view_card/main/file " +
        file + "\nframes 2\nclick view_card/main/save\nframes 1\n");
    ASSERT_TRUE(until([&] { return dump(ui()).find("Picture saved") != std::string::npos; }))
        << dump(ui());
    EXPECT_FALSE(is_there("view_card/main/file")) << "the card covers nothing";
    const Image picture = read_image(file);
    EXPECT_GT(picture.width, 800);
    EXPECT_LT(picture.width, 1400) << "without the Explorer and the Inspector";
    EXPECT_EQ(*std::max_element(picture.pixels.begin(), picture.pixels.end()), 7);
    fs::remove(file);
    run("frames 10\n");
    EXPECT_FALSE(fs::exists(file)) << "once";
}

TEST_F(ViewFiles, APictureThatFailsLeavesTheWindowAsItWas) {
    open_run();
    run("view.workspace_biases\nframes 4\n");
    stage_->pictures.pixels = []() -> Image { fail("no such picture"); };
    const auto look = [&] {
        const ImGuiIO& io = ImGui::GetIO();
        const ImGuiStyle& style = ImGui::GetStyle();
        return std::tuple(
            io.DisplayFramebufferScale.x, io.ConfigFlags, ui().theme.name,
            style.AntiAliasedFill && style.AntiAliasedLines && style.AntiAliasedLinesUseTex,
            ui().numbers == nullptr);
    };
    const auto before = look();
    for (const char* name : {"a.png", "a.svg", "a.npz"}) {
        const std::string file = (scratch_ / "no folder" / name).string();
        ui().commands.send(TakePicture{{.path = file, .scale = 3, .ground = ThemeName::light}});
        ui().commands.send(TakePicture{{.path = file, .scale = 2, .ground = {}}});
        steps(1);
        EXPECT_NE(dump(ui()).find("the one before is still being written"), std::string::npos);
        ASSERT_TRUE(until([&] { return !ui().picture.is_unfinished(); }));
        steps(3);
        EXPECT_TRUE(until([&] { return look() == before; })) << name;
        EXPECT_NE(dump(ui()).find("not saved"), std::string::npos) << dump(ui());
    }
}

TEST_F(ViewFiles, WhatCannotBeWrittenIsSaidInTheCard) {
    open_run();
    run("view.workspace_biases\nframes 4\n");
    const std::array<std::string, 3> cards[] = {{"view_card", "file.save_view", "a.png"},
                                                {"film_card", "file.save_film", "a.apng"}};
    for (const auto& [name, action, file] : cards) {
        const std::string card = name + "/main/";
        run(action + "\nframes 3\nset " + card + "file /no/such/folder/" + file +
            "\nframes 2\nclick " + card + "save\nframes 3\n");
        EXPECT_NE(value_of(card + "problem").find("/no/such/folder"), std::string::npos)
            << dump(ui());
        run("key Escape\nframes 3\n");
        EXPECT_FALSE(is_there(card + "file"));
    }
}

TEST_F(ViewFiles, OfStrangersAreRefusedInWordsAndCloseNothing) {
    open_run();
    const std::string good = R"({"afterimage_view": 1, "model": ")" + run_ + "\"";
    EXPECT_EQ(problem_of(good + "}"), "");
    const std::pair<std::string, const char*> bad[] = {
        {"[]", "found"},
        {"{}", "afterimage_view"},
        {R"({"afterimage_view": 2, "model": "x"})", "this version reads 1"},
        {R"({"afterimage_view": 1})", "model: missing"},
        {good + R"(, "workspace": "kitchen"})", "workspace: found 'kitchen'"},
        {good + R"(, "step": 1e300})", "step"},
        {good + R"(, "step": "\u001b[31m"})", "step"},
        {good + R"(, "maps": {"percentile": 0}})", "maps.percentile: found 0, allowed: 1 to 100"},
        {good + R"(, "maps": {"quantity": "weight"}})", "allowed: w, "},
        {good + R"(, "compare": {"slots": [1]}})", "compare.slots"},
        {good + R"(, "compare": {"slots": [{},{},{},{},{}]}})", "at most 4"},
        {good + R"(, "recipe": {"afterimage_recipe": 1, "interventions": [{"name": "no"}]}})",
         "recipe: intervention 1"},
        {good + R"(, "sample": {"samples": 1000000}})", "sample.samples"},
        {good + R"(, "panes": "all"})", "panes"},
        {good + R"(, "choices": {"parts": "both"}})", "choices.parts: found 'both'"},
        {good + R"(, "compare": {"lower": 3}})", "compare.lower"},
        {good + R"(, "compare": {"slots": [{"recipe": {}}]}})", "compare.slots.recipe"},
        {good + R"(, "place": {"mask": {"height": 2, "width": 2, "values": "5"}}})", "mask"},
        {good + R"(, "place": {"pins": 3}})", ""},
        {good + R"(, "cell": {"layer": "x"}})", ""}};
    for (const auto& [text, words] : bad) {
        const std::string problem = problem_of(text);
        if (*words != 0) {
            EXPECT_NE(problem.find(words), std::string::npos) << text << ": " << problem;
        }
        EXPECT_EQ(problem.find('\033'), std::string::npos);
        EXPECT_LT(problem.size(), 600U);
    }
    stage_->frame().open(write("{"));
    run("frames 5\n");
    EXPECT_NE(dump(ui()).find("stranger.json: "), std::string::npos) << dump(ui());
    stage_->frame().open(write(R"({"afterimage_view": 1, "model": "/no/such/other"})"));
    run("frames 5\n");
    EXPECT_EQ(ui().status.path, run_) << "what is open stays";
    EXPECT_NE(dump(ui()).find("there is no such file or folder"), std::string::npos) << dump(ui());
    stage_->frame().open(write(good + R"(, "cell": {"layer": 900000}, "step": 900000})"));
    run("frames 5\n");
    ASSERT_TRUE(until([&] { return ui().has_model() && ui().selection.step == 900000; }));
    run("frames 5\n");
    EXPECT_LT(ui().selection.cell.layer, 2) << "a place outside the model is taken back";
}

// A folder that a training has yet to make: the window waits and opens it.
TEST_F(ViewFiles, AFolderIsOpenedWhenItsRunBegins) {
    open_run();
    ui().commands.send(CloseModel{});
    run("frames 3\n");
    const fs::path awaited = scratch_ / "awaited";
    stage_->frame().open(awaited.string());
    run("frames 3\n");
    EXPECT_NE(dump(ui()).find("is not there yet"), std::string::npos) << dump(ui());
    EXPECT_FALSE(ui().has_model());
    fs::copy(run_, awaited, fs::copy_options::recursive);
    ASSERT_TRUE(until([&] { return ui().has_model(); }));
    EXPECT_EQ(ui().status.path, awaited.string());
}

// A run that was open before and is not there any more is not waited for.
TEST_F(ViewFiles, ARunThatWasDeletedIsGone) {
    open_run();
    ui().commands.send(CloseModel{});
    run("frames 3\n");
    fs::remove_all(run_);
    stage_->frame().open(run_);
    run("frames 3\n");
    EXPECT_NE(dump(ui()).find(run_ + " is gone: it was deleted or moved"), std::string::npos)
        << dump(ui());
    EXPECT_EQ(dump(ui()).find("is not there yet"), std::string::npos);
}

}  // namespace
}  // namespace aft::app
