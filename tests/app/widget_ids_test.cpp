// Every control has an id of its own in the code: better words on the screen change no script and
// no test.
#include <set>

#include "tests/app/stage_fixture.h"

namespace aft::app {
namespace {

TEST(WidgetNames, AreSplitAtTheMark) {
    const WidgetName given = "Target step##target_step";
    EXPECT_EQ(given.words, "Target step");
    EXPECT_EQ(given.id, "target_step");
    EXPECT_TRUE(given.has_id);
    const WidgetName key = "train.steps";
    EXPECT_EQ(key.words, "train.steps");
    EXPECT_EQ(key.id, "train.steps");
    EXPECT_TRUE(key.has_id);
    EXPECT_FALSE(WidgetName("Target step").has_id);
    EXPECT_FALSE(WidgetName("Target step##Target step").has_id);
    EXPECT_FALSE(WidgetName("Target step##").has_id);
    EXPECT_FALSE(WidgetName("").has_id);
}

TEST(WidgetNames, DataAreNeverSplit) {
    const WidgetName file = WidgetName::data("My runs/a##b");
    EXPECT_EQ(file.words, "My runs/a##b");
    EXPECT_EQ(file.id, "My runs/a##b");
    EXPECT_TRUE(file.has_id);
}

TEST(WidgetNames, OfChoicesAndPartsKeepWhatIsMissing) {
    const WidgetName sort = "Sort##sort";
    const WidgetName chosen = sort.choice("By date##date");
    EXPECT_EQ(chosen.words, "Sort=By date");
    EXPECT_EQ(chosen.id, "sort=date");
    EXPECT_TRUE(chosen.has_id);
    EXPECT_FALSE(sort.choice("By date").has_id);
    EXPECT_EQ(sort.with(" slider", "_slider").id, "sort_slider");
}

class WidgetIds : public BareTest {
  protected:
    // What is on the screen now.
    void look() {
        for (const WidgetRecord& w : ui().recorder.last()) {
            ++seen_;
            if (!w.path.has_id) wrong_.insert(w.kind + " without an id: " + w.path.label);
            const bool is_second = w.path.id.find('#') != std::string::npos;
            if (is_second && w.path.label.find('#') == std::string::npos)
                wrong_.insert(w.kind + " has the id of another one: " + w.path.label);
        }
    }
    // And what its menus, lists and tabs open.
    void look_into() {
        look();
        std::vector<std::string> openers;
        for (const WidgetRecord& w : ui().recorder.last())
            if ((w.kind == "combo" || w.kind == "menu" || w.kind == "tab") && w.why_not.empty())
                openers.push_back(w.path.id);
        for (const std::string& id : openers) {
            if (!is_there(id)) continue;
            run("click \"" + id + "\"\nframes 3\n");
            look();
            run("key Esc\nframes 2\n");
        }
    }
    void look_at_workspaces() {
        for (const Workspace workspace : kWorkspaces) {
            ui().workspace = workspace;
            steps(20);
            look_into();
        }
    }
    void look_after(const std::string& script) {
        run(script);
        look();
    }
    void TearDown() override {
        std::string all;
        for (const std::string& words : wrong_) all += "\n    " + words;
        EXPECT_TRUE(wrong_.empty()) << all;
        EXPECT_GT(seen_, 500);
        BareTest::TearDown();
    }

    std::set<std::string> wrong_;
    int64_t seen_ = 0;
};

TEST_F(WidgetIds, WithNothingOpen) {
    make();
    look_at_workspaces();
    look_after("key Ctrl+Shift+P\nframes 3\n");
    look_after("key Esc\nframes 2\nkey F1\nframes 3\n");
    look_after("key Esc\nframes 2\nfile.open\nframes 3\n");
    look_after("key Esc\nframes 2\nfile.new_run\nframes 3\n");
    run("set home/settings/group model\nframes 3\n");
    look_into();
}

TEST_F(WidgetIds, InSmallWindows) {
    for (const ImVec2 size : {ImVec2(1100, 700), ImVec2(800, 560)}) {
        make(fed(feed_small), size);
        look_at_workspaces();
    }
}

TEST_F(WidgetIds, WithAnError) {
    make(fed(feed_error));
    look_at_workspaces();
}

TEST_F(WidgetIds, WithATrainedModel) {
    open_mirror();
    look_at_workspaces();
    run("view.workspace_biases\nframes 3\nwait drawn\nclick atlas/main/layer_0\nframes 5\n");
    look_after("selection.pin\nframes 3\n");
    look_after("map.difference_to_pin\nframes 5\n");
    look_after("click focus/main/tab\nframes 5\n");
    look_after(
        "view.workspace_attention\nframes 20\nclick attention/main/choose_sample\nframes 3\n");
    run("key Esc\nview.workspace_complete\nframes 20\nmask.all\ncomplete.start\nframes 20\n");
    look_into();
}

TEST_F(WidgetIds, WithARun) {
    make();
    open_tiny_run();
    session().run().step(25);
    run("wait Paused\nview.workspace_train\nframes 10\n");
    look_at_workspaces();
    run("view.workspace_train\nframes 5\n");
    look_after("click run/run/rewind\nframes 4\n");
    look_after("key Esc\nset controls/all_settings/show_all_settings on\nframes 4\n");
}

}  // namespace
}  // namespace aft::app
