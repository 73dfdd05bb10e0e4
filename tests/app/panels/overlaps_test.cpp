// No two controls lie over each other, in any pane, at any size and scale; none reaches out of the
// window.
#include <set>

#include "tests/app/stage_fixture.h"

namespace aft::app {
namespace {

class Overlaps : public BareTest {
  protected:
    static bool is_control(const WidgetRecord& w) {
        static const std::set<std::string> kinds = {"button", "segment", "field", "combo",
                                                    "switch", "text",    "slider"};
        return w.visible && kinds.contains(w.kind);
    }
    static bool lie_over_each_other(const WidgetRecord& a, const WidgetRecord& b) {
        constexpr float kEdge = 1;  // rounding
        return std::min(a.max.x, b.max.x) - std::max(a.min.x, b.min.x) > kEdge &&
               std::min(a.max.y, b.max.y) - std::max(a.min.y, b.min.y) > kEdge;
    }
    void check(const std::string& where) {
        std::vector<WidgetRecord> controls;
        for (const WidgetRecord& w : ui().recorder.last())
            if (is_control(w)) controls.push_back(w);
        const float right = ImGui::GetIO().DisplaySize.x;
        for (size_t i = 0; i < controls.size(); ++i) {
            const WidgetRecord& a = controls[i];
            EXPECT_LE(a.max.x, right + 1) << a.path.id << " reaches out, " << where;
            for (size_t k = i + 1; k < controls.size(); ++k)
                if (a.window == controls[k].window && lie_over_each_other(a, controls[k]))
                    ADD_FAILURE() << a.path.id << " and " << controls[k].path.id << ", " << where;
        }
        checked_ += controls.size();
    }
    void check_workspaces(ImVec2 size, float zoom) {
        stage_->set_size(size);
        ui().settings.zoom = zoom;
        for (const Workspace workspace : kWorkspaces) {
            ui().workspace = workspace;
            steps(6);
            const std::string where =
                fmt::format("{} at {}x{}, scale {}", workspace_id(workspace), size.x, size.y, zoom);
            check(where);
            std::vector<std::string> tabs;
            for (const WidgetRecord& w : ui().recorder.last())
                if (w.kind == "tab" && w.value == "hidden" && w.visible) tabs.push_back(w.path.id);
            for (const std::string& tab : tabs) {
                run("click " + tab + "\nframes 6\n");
                check(where + ", " + tab);
            }
        }
    }
    size_t checked_ = 0;
};

TEST_F(Overlaps, AreNotThere) {
    open_mirror();
    run("view.workspace_complete\nframes 3\n");
    ASSERT_TRUE(until([&] { return ui().selection.image.item != nullptr; }));
    run("complete.start\nframes 2\n");
    until([&] {
        const auto& own = ui().selection.completion.own;
        return own && own->done && !own->samples.empty();
    });
    run("lab.zero_selected\nframes 6\n");
    for (const ImVec2 size : {ImVec2(1600, 1000), ImVec2(1100, 700), ImVec2(800, 560)})
        check_workspaces(size, 1);
    check_workspaces({1600, 1120}, 2);  // the smallest at twice the size
    EXPECT_GT(checked_, 1000U);
}

}  // namespace
}  // namespace aft::app
