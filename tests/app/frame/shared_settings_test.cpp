// Two windows on the same settings and the same run: what the other has written is kept in the
// file, and this window keeps what it shows.
#include "app/state/settings_merge.h"
#include "app/state/user_settings_text.h"
#include "core/files.h"
#include "tests/app/stage_fixture.h"

namespace aft::app {
namespace {

class SharedSettings : public BareTest {
  protected:
    void open() {
        initialize_model("cpu", 1);
        FrameOptions options;
        options.settings_file = file_;
        make(options);
        stage_->frame().open(source_file("assets/demo/mirror.safetensors").string());
        run("frames 2\nwait Ready\nview.workspace_complete\nframes 5\n");
        ui().selection.lock(kOurs);
        save();
        ASSERT_EQ(written().notes.size(), 1U);
        path_ = written().notes.begin()->first;
    }
    void save() {
        steps(2);
        stage_->frame().save_settings();
        steps(2);
    }
    UserSettings written() {
        std::string problem;
        UserSettings settings = load_user_settings(file_, problem);
        EXPECT_EQ(problem, "");
        return settings;
    }
    // What the other window has written of the run.
    RunNotes& theirs() { return theirs_.notes[path_]; }
    RunNotes of_run() { return written().notes.at(path_); }
    void other_sets_all() {
        theirs_ = written();
        theirs().locked = kTheirs;
        theirs().recipe.interventions = {{.name = "zero", .layer = 0, .options = {}}};
        theirs().overlays = {"/runs/theirs"};
        theirs().pins.push_back({.cell = kTheirs, .step = 3, .words = "theirs"});
        const ModelConfig& model = ui().status.config.model;
        theirs().mask = {.height = model.height, .width = model.width};
        theirs().mask.values.assign(size_t(model.height * model.width), 1);
        theirs_.layouts["theirs"] = {"text", 1};
        theirs_.theme = ThemeName::light;
        save_user_settings(file_, theirs_);
    }

    static constexpr Cell kOurs{.layer = 1, .target = 20, .source = 3};
    static constexpr Cell kTheirs{.layer = 0, .target = 9, .source = 9};
    static constexpr Cell kNext{.layer = 1, .target = 30, .source = 30};
    fs::path file_ = scratch_ / "window.json";
    std::string path_;
    UserSettings theirs_;
};

TEST_F(SharedSettings, EachWindowKeepsItsOwnOfTheRunAndTheFileThatOfTheOther) {
    open();
    const auto mask = ui().selection.completion.mask.mask();
    const std::vector<uint8_t> own(mask.begin(), mask.end());
    other_sets_all();
    for (int i = 0; i < 2; ++i) {  // also the second time, with what it took over
        save();
        EXPECT_EQ(of_run().locked, kTheirs);
        EXPECT_EQ(of_run().recipe, theirs().recipe);
        EXPECT_EQ(of_run().overlays, theirs().overlays);
        EXPECT_EQ(of_run().mask, theirs().mask);
        EXPECT_EQ(written().theme, ThemeName::light);
        EXPECT_TRUE(written().layouts.contains("theirs"));
        EXPECT_EQ(ui().selection.cell, kOurs);
        EXPECT_TRUE(ui().selection.locked);
        EXPECT_TRUE(ui().selection.lab.recipe.interventions.empty());
        EXPECT_TRUE(ui().overlays.empty());
        EXPECT_EQ(ui().settings.theme, ThemeName::dark);
        const auto now = ui().selection.completion.mask.mask();
        EXPECT_TRUE(std::equal(own.begin(), own.end(), now.begin(), now.end()));
        ASSERT_EQ(ui().selection.pins.size(), 1U) << "pins are of all windows";
    }
    ui().selection.lock(kNext);
    ui().overlays.push_back("/runs/ours");
    ui().selection.pin(5);
    save();
    EXPECT_EQ(of_run().locked, kNext) << "the newest change of it";
    EXPECT_EQ(of_run().overlays, (std::vector<std::string>{"/runs/ours", "/runs/theirs"}));
    EXPECT_EQ(of_run().mask, theirs().mask);
    EXPECT_EQ(of_run().pins.size(), 2U);
}

TEST_F(SharedSettings, PinsOfBothAreKept) {
    open();
    other_sets_all();
    ui().selection.pin(5);
    save();
    EXPECT_EQ(of_run().pins.size(), 2U);
    theirs_ = written();
    theirs().pins.erase(theirs().pins.begin());
    theirs().step_notes[4] = "theirs";
    save_user_settings(file_, theirs_);
    ui().settings.notes[path_].step_notes[7] = "ours";
    save();
    EXPECT_EQ(of_run().pins.size(), 1U) << "what the other has removed";
    EXPECT_EQ(of_run().step_notes.size(), 2U);
}

TEST_F(SharedSettings, APieceThatCannotBeReadTakesNothingOfTheOtherWithIt) {
    open();
    theirs_ = written();
    theirs().name = "theirs";
    theirs().experiments.recipes.push_back({.name = "whole"});
    std::string text = user_settings_text(theirs_);
    const std::string list = "\"recipes\": [";
    ASSERT_NE(text.find(list), std::string::npos);
    text.insert(text.find(list) + list.size(), "4,");
    write_atomically(file_, text);
    save();
    EXPECT_EQ(of_run().name, "theirs");
    EXPECT_EQ(of_run().locked, kOurs);
    EXPECT_EQ(of_run().experiments.recipes.size(), 1U);
    EXPECT_EQ(read_file(file_.string() + ".damaged"), text);
    EXPECT_NE(ui().log.back().text.find("Kept as window.json.damaged."), std::string::npos);
}

TEST_F(SharedSettings, AFileThatIsDamagedWhollyIsKeptBesideEveryOther) {
    open();
    for (const char* const content : {"{", "[", "{"}) {
        write_atomically(file_, content);
        save();
        EXPECT_EQ(of_run().locked, kOurs) << "our own are not lost with it";
    }
    EXPECT_EQ(read_file(file_.string() + ".damaged"), "{");
    EXPECT_EQ(read_file(file_.string() + ".damaged-2"), "[");
    EXPECT_FALSE(fs::exists(file_.string() + ".damaged-3"));
}

}  // namespace
}  // namespace aft::app
