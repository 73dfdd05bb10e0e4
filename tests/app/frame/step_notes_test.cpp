// Notes at steps: kept in the run folder beside what is there, or in the user's settings; drawn on
// the timeline, shown in the Log, taken back and done again.
#include "app/state/step_notes.h"

#include <fstream>

#include "app/state/user_settings_text.h"
#include "core/caught.h"
#include "core/files.h"
#include "tests/app/stage_fixture.h"

namespace aft::app {
namespace {

class StepNotesOfARun : public BareTest {
  protected:
    void open_run() {
        make();
        open_tiny_run();
        session().run().step(30);
        ASSERT_TRUE(until([&] { return ui().status.state == RunState::paused; }));
    }
    [[nodiscard]] fs::path file() const { return folder_ / "notes.json"; }
    // A script's value has no blanks.
    void type_note(const std::string& words) {
        ui().recorder.scripted.request("note_card/main/note", words);
        run("frames 3\nclick note_card/main/save\nframes 3\n");
    }
    void open_again() {
        const uint64_t before = ui().opened;
        stage_->frame().open(folder_.string());
        ASSERT_TRUE(until([&] { return ui().opened != before && ui().has_model(); }));
        steps(3);
    }
};

TEST_F(StepNotesOfARun, WhatIsTypedStaysWhereTheStepIsAnother) {
    open_run();
    set_step_note(ui(), 13, "the loss falls");
    run("key Shift+P\nframes 3\nkey Tab\nframes 3\nset note_card/main/step 13\nframes 2\n");
    EXPECT_EQ(value_of("note_card/main/note"), "the loss falls") << "nothing was typed";
    ui().recorder.scripted.request("note_card/main/note", "typed");
    run("frames 3\nset note_card/main/step 20\nframes 2\nset note_card/main/step 13\nframes "
        "2\n");
    EXPECT_EQ(value_of("note_card/main/note"), "typed");
    EXPECT_NE(dump(ui()).find("Takes the place of the note there: the loss falls"),
              std::string::npos);
    run("click note_card/main/save\nframes 3\n");
    EXPECT_EQ(ui().step_notes, (StepNotes{{13, "typed"}}));
}

TEST_F(StepNotesOfARun, AreWrittenChangedAndRemovedAtAnyStep) {
    open_run();
    std::ofstream(file()) << R"({"pinned": [20], "other": "stays"})";
    run("key Shift+P\nframes 3\n");
    ASSERT_TRUE(is_there("note_card/main/note")) << dump(ui());
    EXPECT_EQ(value_of("note_card/main/step"), "30");
    run("set note_card/main/step 13\nframes 2\n");
    type_note("the loss falls");
    EXPECT_FALSE(is_there("note_card/main/note")) << "the card closes";
    EXPECT_EQ(ui().step_notes, (StepNotes{{13, "the loss falls"}}));
    EXPECT_EQ(value_of("timeline/track/note_13"), "the loss falls");
    EXPECT_EQ(read_step_notes(folder_), ui().step_notes);
    const std::string text = read_file(file());
    EXPECT_NE(text.find("\"pinned\""), std::string::npos) << text;
    EXPECT_NE(text.find("stays"), std::string::npos) << text;
    run("click timeline/track/note_13\nframes 3\n");
    EXPECT_EQ(value_of("note_card/main/note"), "the loss falls") << "no moment is stored there";
    type_note("it falls twice as fast");
    EXPECT_EQ(read_step_notes(folder_).at(13), "it falls twice as fast");
    open_again();
    EXPECT_EQ(ui().step_notes.at(13), "it falls twice as fast");
    set_step_note(ui(), 13, "");
    EXPECT_TRUE(read_step_notes(folder_).empty());
    steps(2);
    EXPECT_FALSE(is_there("timeline/track/note_13"));
}

TEST_F(StepNotesOfARun, UndoTakesThemBackInTurnWithSettings) {
    open_run();
    ui().workspace = Workspace::train;
    set_step_note(ui(), 5, "one");
    set_step_note(ui(), 5, "two");
    ui().selection.changes.add({.of = SettingChange{"train.clip", "1", "2"}, .what = "train.clip"});
    set_step_note(ui(), 5, "");
    run("edit.undo\nframes 3\n");
    EXPECT_EQ(ui().step_notes, (StepNotes{{5, "two"}}));
    run("edit.undo\nframes 3\nedit.undo\nframes 3\n");
    EXPECT_EQ(ui().step_notes, (StepNotes{{5, "one"}}));
    run("edit.undo\nframes 3\n");
    EXPECT_TRUE(ui().step_notes.empty());
    run("edit.redo\nframes 3\n");
    EXPECT_EQ(read_step_notes(folder_), (StepNotes{{5, "one"}}));
}

TEST_F(StepNotesOfARun, TheLogShowsThem) {
    open_run();
    set_step_note(ui(), 7, "first");
    set_step_note(ui(), 9, "second");
    run("view.log\nframes 10\n");
    EXPECT_EQ(value_of("log/main/notes"), "2 of 2");
    run("set log/main/filter first\nframes 3\n");
    EXPECT_EQ(value_of("log/main/notes"), "1 of 2");
}

// A folder stands where the file is to be: it can be neither read nor written.
TEST_F(StepNotesOfARun, GoIntoTheSettingsWhereTheFolderTakesNone) {
    open_run();
    set_step_note(ui(), 4, "in the folder");
    ui().settings.notes.clear();
    fs::rename(file(), folder_ / "aside");
    fs::create_directory(file());
    set_step_note(ui(), 6, "in the settings");
    bool is_said = false;
    for (const LogLine& line : ui().log)
        is_said |= line.text.find("kept in your settings") != std::string::npos;
    EXPECT_TRUE(is_said);
    const UserSettings back = parse_user_settings(user_settings_text(ui().settings));
    ASSERT_EQ(back.notes.size(), 1U);
    EXPECT_EQ(back.notes.begin()->second.step_notes, (StepNotes{{6, "in the settings"}}));
    fs::remove(file());
    fs::rename(folder_ / "aside", file());
    open_again();
    EXPECT_EQ(ui().step_notes, (StepNotes{{4, "in the folder"}, {6, "in the settings"}}));
}

TEST_F(StepNotesOfARun, TheMenuOfTheTimelineAddsOne) {
    open_run();
    const WidgetRecord* track = ui().recorder.find("timeline/track/track");
    ASSERT_NE(track, nullptr);
    ImGuiIO& io = ImGui::GetIO();
    const float wide = track->max.x - track->min.x;
    io.AddMousePosEvent(track->min.x + wide * 11 / 60, (track->min.y + track->max.y) / 2);
    steps(3);
    io.AddMouseButtonEvent(ImGuiMouseButton_Right, true);
    steps(2);
    io.AddMouseButtonEvent(ImGuiMouseButton_Right, false);
    steps(3);
    ASSERT_TRUE(is_there("timeline/track/note_here")) << dump(ui());
    run("click timeline/track/note_here\nframes 3\n");
    EXPECT_EQ(value_of("note_card/main/step"), "11");
}

TEST(StepNotesFile, WhatIsNoNoteIsNamed) {
    const Scratch scratch;
    const auto problem_in = [&](const std::string& json) {
        std::ofstream(scratch / "notes.json") << json;
        return error_words([&] { (void)read_step_notes(scratch.path()); });
    };
    EXPECT_EQ(problem_in("{}"), "");
    EXPECT_NE(problem_in("[1]").find("allowed: an object"), std::string::npos);
    EXPECT_NE(problem_in(R"({"notes": 5})").find("notes: found 5"), std::string::npos);
    EXPECT_NE(problem_in(R"({"notes": [{"step": -3, "text": "a"}]})").find("notes[0].step"),
              std::string::npos);
    EXPECT_NE(problem_in(R"({"notes": [{"text": "a"}]})").find("notes[0].step"), std::string::npos);
    EXPECT_NE(problem_in(R"({"notes": [{"step": 1, "text": 7}]})").find("notes[0].text"),
              std::string::npos);
    EXPECT_NE(problem_in(R"({"notes": [)").find("notes.json"), std::string::npos);
    EXPECT_NE(error_words([&] { write_step_note(scratch.path(), 1, "a"); }), "")
        << "a damaged file is not written over";
    EXPECT_EQ(problem_in(R"({"notes": [{"step": 1, "text": "a\nb"}]})"), "");
    EXPECT_EQ(read_step_notes(scratch.path()).at(1).find('\n'), std::string::npos);
}

}  // namespace
}  // namespace aft::app
