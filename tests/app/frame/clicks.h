// Clicks: presses every control that the window records, in a random but seeded order, types
// nonsense into every field, and keeps count of what it reached. Without a session the same seed
// does the same again; with one the pace of its threads matters too. Tests only; window thread.
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "core/rng.h"
#include "tests/app/ui_driver.h"

namespace aft::app {

// A script: Your operator, compared with one that has a grid.
inline constexpr const char* kGridOperator =
    "key Escape\nframes 2\nview.zoom_reset\nview.workspace_lab\nframes 3\n"
    "click your_operator/main/tab\nframes 3\n"
    "set your_operator/main/operator conv2d\nframes 2\n";

// Kinds of nonsense that every field must have seen.
inline constexpr size_t kNonsensePerField = 5;
// What flashes by for less cannot be pressed by a hand either.
inline constexpr int kSeenFrames = 30;
// What is typed: empty, letters, too large, nan, negative, UTF-8, very long, a path that is not
// there.
[[nodiscard]] const std::vector<std::string>& nonsense_for(bool is_number);

struct Control {
    std::string kind, workspace;
    int frames = 0;  // in which it could be used
    int tries = 0, reached = 0;
    int seen = 0;               // frames in which it could be used since it was last tried afresh
    std::set<size_t> nonsense;  // which were typed into it
    [[nodiscard]] bool is_field() const { return kind == "text" || kind == "field"; }
    [[nodiscard]] bool is_done() const {
        return reached > 0 && (!is_field() || nonsense.size() >= kNonsensePerField);
    }
};

// An id without what changes from run to run: "#2" is left out, numbers are 0, paths "(path)".
[[nodiscard]] std::string plain_id(const WidgetRecord& widget);
[[nodiscard]] bool is_control(const WidgetRecord& widget);
// A press there would reach its window: no overlay, popup or hidden tab is in the way.
[[nodiscard]] bool is_uncovered(const WidgetRecord& widget);

struct ClickRules {
    uint64_t seed = 1;
    std::string folder{};                                  // the file browser does not leave it
    std::string only{};                                    // counts ids that begin so
    std::function<bool()> is_right = [] { return true; };  // what is to be open is open
    std::function<void()> restore = [] {};                 // opens it again
    // A new window with the same open: what is chosen in the old one may hide what is looked for.
    std::function<void()> afresh = [] {};
    std::function<bool(const WidgetRecord&)> may_drag{};  // empty: all of them
    // Into states that luck rarely meets, for ids that begin so. One for a whole id is for
    // what is there for a moment only: it returns when that can be used.
    std::vector<std::pair<std::string, std::function<void()>>> nudges{};
    int most = 6000;  // actions, should something stay out of reach
};

class Clicks {
  public:
    Clicks(std::unique_ptr<BareStage>& stage, ClickRules rules);
    void explore();           // until every control is done, or something fails
    void shake(int actions);  // at other sizes, themes and zooms; counts nothing
    // Controls that could be used for a while and were not pressed, or not typed into enough.
    [[nodiscard]] std::vector<std::string> missing() const { return not_done(false); }
    // Of those: not on the screen once in the last round of looking for them. Luck made the state
    // that shows them, and no nudge does.
    [[nodiscard]] std::vector<std::string> lost() const { return not_done(true); }
    [[nodiscard]] std::string summary() const;
    [[nodiscard]] size_t known() const { return controls_.size(); }

  private:
    [[nodiscard]] std::vector<std::string> not_done(bool is_lost) const;
    struct OnScreen {
        std::string id;  // plain
        WidgetRecord widget;
    };
    void note_controls();
    void note_way(const std::string& id);
    void check_state();
    void restore();
    void act_once();
    void wander();
    void go_after(const std::string& id, int depth);
    void try_around(const std::string& id);
    bool nudge(const std::string& id);  // true if there is one for just this id
    void show_pane_of(const std::string& id);
    void use(const OnScreen& control);
    bool into_view(WidgetRecord& widget);
    bool press(const OnScreen& control);
    bool type_nonsense(const OnScreen& control);
    void stay_in_folder();
    void make_start_cheap();
    [[nodiscard]] std::vector<OnScreen> usable();
    [[nodiscard]] ImVec2 place_in(const WidgetRecord& widget);
    [[nodiscard]] size_t pick(size_t count) { return size_t(rng_.below(int64_t(count))); }
    [[nodiscard]] Ui& ui() { return driver_.ui(); }

    ClickRules rules_;
    UiDriver driver_;
    CounterRng rng_;
    using Ways = std::vector<std::string>;  // what was done last when a control appeared
    std::map<std::string, Control> controls_;
    std::map<std::string, Ways> ways_;
    std::set<std::string> on_screen_;  // in the last frame
    std::string last_;                 // what was done last: an id, or "key ..."
    int actions_ = 0;
    bool counts_ = true;
};

}  // namespace aft::app
