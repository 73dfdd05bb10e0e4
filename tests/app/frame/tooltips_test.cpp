// Tooltips: they come while the window rests, every control has one, and none is called by a key of
// the settings.
#include <imgui_internal.h>

#include <set>

#include "tests/app/stage_fixture.h"

namespace aft::app {
namespace {

class Tooltips : public BareTest {
  protected:
    void point(const std::string& id) {
        const WidgetRecord* const w = ui().recorder.find(id);
        ASSERT_NE(w, nullptr) << id;
        ImGui::GetIO().AddMousePosEvent((w->min.x + w->max.x) / 2, (w->min.y + w->max.y) / 2);
    }
    // One frame, if one is asked for, at the time that was asked for: all that a window at rest
    // draws.
    bool draw_wanted() {
        constexpr double kFrame_s = 1.0 / 60;
        const WantedFrames wanted = ui().wanted;
        if (wanted.count == 0 && !std::isfinite(wanted.at)) return false;
        const double rest = wanted.count > 0 ? kFrame_s : wanted.at - ui().time;
        ImGui::GetIO().DeltaTime = static_cast<float>(std::max(kFrame_s, rest));
        steps(1);
        ImGui::GetIO().DeltaTime = static_cast<float>(kFrame_s);
        return true;
    }
    static bool is_shown() {
        for (const ImGuiWindow* const window : ImGui::GetCurrentContext()->Windows)
            if ((window->Flags & ImGuiWindowFlags_Tooltip) != 0 && window->Active &&
                !window->Hidden)
                return true;
        return false;
    }
    // Of the controls that are on the screen now.
    void look() {
        static const std::set<std::string> kKinds = {"button", "segment", "switch", "field",
                                                     "slider", "combo",   "text"};
        for (const WidgetRecord& w : ui().recorder.last()) {
            if (!kKinds.contains(w.kind) || w.path.id.starts_with("palette/")) continue;
            ++seen_;
            if (w.tip.empty()) wrong_.insert("no tooltip: " + w.path.id);
            for (const char* const group : {"train.", "model.", "data."})
                if (w.tip.starts_with(group)) wrong_.insert("called by its key: " + w.tip);
        }
    }
    void look_at_workspaces() {
        for (const Workspace workspace : {Workspace::home, Workspace::train, Workspace::biases,
                                          Workspace::attention, Workspace::complete}) {
            ui().workspace = workspace;
            steps(20);
            look();
        }
    }
    void expect_all_explained() {
        std::string all;
        for (const std::string& words : wrong_) all += "\n    " + words;
        EXPECT_TRUE(wrong_.empty()) << all;
        EXPECT_GT(seen_, 50);
    }

    std::set<std::string> wrong_;
    int seen_ = 0;
};

TEST_F(Tooltips, ComeWhileTheWindowRests) {
    make(fed(feed_small));
    run("view.workspace_train\nframes 10\n");
    point("run/run/step");
    steps(3);  // what the window draws after the pointer has moved
    EXPECT_FALSE(is_shown()) << "too early";
    EXPECT_GT(ui().wanted.at - ui().time, 0.3) << "one frame, when it is due; none before";
    int frames = 0;
    while (frames < 20 && draw_wanted()) ++frames;
    EXPECT_TRUE(is_shown());
    EXPECT_LT(frames, 8) << "then it rests again";
}

TEST_F(Tooltips, ComeOverAControlThatIsOff) {
    make(fed([](Ui& now) {
        feed_small(now);
        now.status.following = true;
    }));
    run("view.workspace_train\nframes 10\n");
    const WidgetRecord* const w = ui().recorder.find("run/run/step");
    ASSERT_NE(w, nullptr);
    ASSERT_NE(w->why_not, "");
    EXPECT_NE(w->tip.find(w->why_not), std::string::npos) << w->tip;
    point("run/run/step");
    steps(40);
    EXPECT_TRUE(is_shown());
}

TEST_F(Tooltips, ExplainEveryControlOfAModel) {
    open_mirror();
    look_at_workspaces();
    run("view.workspace_biases\nframes 3\nwait drawn\nclick atlas/main/layer_0\nframes 5\n");
    look();
    run("click focus/main/tab\nframes 5\n");
    look();
    run("view.workspace_attention\nframes 10\nclick attention/main/choose_sample\nframes 3\n");
    look();
    expect_all_explained();
}

TEST_F(Tooltips, ExplainEveryControlOfARun) {
    make();
    open_tiny_run();
    session().run().step(5);
    run("wait Paused\nview.workspace_train\nframes 10\n");
    run("set controls/all_settings/show_all_settings on\nframes 4\n");
    look();
    run("file.open\nframes 3\n");
    look();
    run("key Esc\nfile.new_run\nframes 5\n");
    look();
    run("set home/settings/group model\nframes 3\n");
    look();
    expect_all_explained();
}

TEST_F(Tooltips, ALayerWithoutANormSaysWhy) {
    open_trained_run();
    run("view.workspace_biases\ntime.first\nframes 10\n");
    const WidgetRecord* const layer = ui().recorder.find("explorer/layers/layer_0");
    ASSERT_NE(layer, nullptr);
    ASSERT_EQ(layer->value, "\u2013") << "nothing is logged before the first step";
    EXPECT_NE(layer->tip.find("from its first step on"), std::string::npos) << layer->tip;
    run("time.live\nframes 10\n");
    EXPECT_EQ(ui().recorder.find("explorer/layers/layer_0")->tip, "");
}

}  // namespace
}  // namespace aft::app
