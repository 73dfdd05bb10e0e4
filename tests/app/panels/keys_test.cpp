// Other keys for an action: by the list of keys (F1), kept in the user's settings.
#include <gtest/gtest.h>

#include "app/state/user_settings_text.h"
#include "tests/app/stage_fixture.h"

namespace aft::app {
namespace {

class OwnKeys : public BareTest {
  protected:
    void SetUp() override {
        make();
        run("key F1\nframes 3\n");
    }
    void change(const std::string& action, const std::string& keys) {
        run("click shortcuts/change/" + action + "\nframes 2\nkey " + keys + "\nframes 3\n");
    }
    // As the next start reads it.
    void start_again() {
        FrameOptions options;
        options.settings_file = scratch_ / "window.json";
        save_user_settings(options.settings_file, ui().settings);
        make(std::move(options));
    }
    std::string keys_of(const char* action) { return ui().actions.find(action)->shortcut; }
};

TEST_F(OwnKeys, RunTheActionAndNothingElseDoes) {
    change("view.workspace_biases", "Ctrl+K");
    EXPECT_EQ(keys_of("view.workspace_biases"), "Ctrl+K");
    EXPECT_EQ(ui().settings.keys.at("view.workspace_biases"), "Ctrl+K");
    EXPECT_TRUE(is_there("shortcuts/keys/view.workspace_biases")) << "the list stays open";
    run("key Esc\nframes 2\nkey 3\nframes 2\n");
    EXPECT_NE(ui().workspace, Workspace::biases) << "its old key does nothing";
    run("key Ctrl+K\nframes 2\n");
    EXPECT_EQ(ui().workspace, Workspace::biases);
}

TEST_F(OwnKeys, OfAnotherActionAreRefusedInWords) {
    change("view.workspace_biases", "Ctrl+S");
    EXPECT_EQ(keys_of("view.workspace_biases"), "3");
    EXPECT_NE(dump(ui()).find("Ctrl S belongs to "), std::string::npos) << dump(ui());
    EXPECT_TRUE(ui().settings.keys.empty());
}

TEST_F(OwnKeys, EscapeLeavesThemAndBackspaceTakesThemAway) {
    change("view.workspace_biases", "Esc");
    EXPECT_EQ(keys_of("view.workspace_biases"), "3");
    EXPECT_TRUE(is_there("shortcuts/keys/view.workspace_biases")) << "Esc has ended the wait alone";
    change("view.workspace_biases", "Backspace");
    EXPECT_EQ(keys_of("view.workspace_biases"), "");
    EXPECT_FALSE(is_there("shortcuts/keys/view.workspace_biases")) << "it has none";
    run("click shortcuts/keys/show=all\nframes 3\n");
    change("view.workspace_biases", "Ctrl+K");
    EXPECT_EQ(keys_of("view.workspace_biases"), "Ctrl+K");
    run("click shortcuts/keys/standard_keys\nframes 3\n");
    EXPECT_EQ(keys_of("view.workspace_biases"), "3");
    EXPECT_TRUE(ui().settings.keys.empty());
}

TEST_F(OwnKeys, AreThereAtTheNextStart) {
    change("view.workspace_biases", "Ctrl+K");
    start_again();
    EXPECT_EQ(keys_of("view.workspace_biases"), "Ctrl+K");
}

TEST_F(OwnKeys, ThatChangedPlacesAreThereAtTheNextStart) {
    change("run.save", "Backspace");
    change("file.save_view", "Ctrl+S");
    change("view.workspace_biases", "Backspace");
    run("click shortcuts/keys/show=all\nframes 3\n");
    change("view.workspace_train", "3");
    change("view.workspace_biases", "2");
    start_again();
    EXPECT_EQ(keys_of("file.save_view"), "Ctrl+S");
    EXPECT_EQ(keys_of("run.save"), "");
    EXPECT_EQ(keys_of("view.workspace_train"), "3");
    EXPECT_EQ(keys_of("view.workspace_biases"), "2");
}

TEST_F(OwnKeys, EscapeGoesBackToTheActionThatHadIt) {
    change("selection.unlock", "Ctrl+K");
    EXPECT_EQ(keys_of("selection.unlock"), "Ctrl+K");
    change("selection.unlock", "Esc");
    EXPECT_EQ(keys_of("selection.unlock"), "Esc");
}

TEST_F(OwnKeys, OfADamagedFileAreLeftOutWithAWarning) {
    const fs::path file = scratch_ / "window.json";
    write_atomically(file, R"({"keys": {"view.workspace_biases": "Hyper+Q", "no.such": "Ctrl+K",
                               "view.workspace_train": "Ctrl+S", "view.workspace_home": 4}})");
    FrameOptions options;
    options.settings_file = file;
    make(std::move(options));
    EXPECT_EQ(keys_of("view.workspace_biases"), "3");
    EXPECT_EQ(keys_of("view.workspace_train"), "2");
    size_t warnings = 0;
    for (const LogLine& line : ui().log) warnings += line.text.starts_with("keys of ") ? 1 : 0;
    EXPECT_EQ(warnings, 3U);
}

TEST(Actions, ChordsHaveTheirNames) {
    for (const char* text : {"Ctrl+Shift+P", "F1", "Space", "Shift+.", "7", "Ctrl+Alt+Left"})
        EXPECT_EQ(chord_text(key_chord(text)), text);
    EXPECT_EQ(chord_text(ImGuiKey_CapsLock), "");
}

}  // namespace
}  // namespace aft::app
