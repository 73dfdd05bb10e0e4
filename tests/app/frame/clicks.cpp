#include "tests/app/frame/clicks.h"

#include <gtest/gtest.h>
#include <imgui_internal.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "app/widgets/number_text.h"

namespace aft::app {

namespace {

constexpr int kMostTries = 200;  // until a control counts as out of reach
constexpr int kTriesAfresh = 24;
constexpr int kFewTries = 12;    // for what was on the screen for less than kSeenFrames
constexpr size_t kMostWays = 6;  // to one control, the newest

bool has_word(const std::string& text, std::string_view word) {
    return text.find(word) != std::string::npos;
}

}  // namespace

Clicks::Clicks(std::unique_ptr<BareStage>& stage, ClickRules rules)
    : rules_(std::move(rules)), driver_(stage, rules_.seed), rng_(rules_.seed, 0) {
    driver_.after_frame = [this] { note_controls(); };
}

std::vector<Clicks::OnScreen> Clicks::usable() {
    std::vector<OnScreen> out;
    for (const WidgetRecord& w : ui().recorder.last())
        if (is_control(w) && w.why_not.empty() && is_uncovered(w)) out.push_back({plain_id(w), w});
    return out;
}

// A way is noted in the frame in which a control appears, whether or not that frame counts: where
// training crawls, a run that was paused counts again only long after a palette was opened.
void Clicks::note_controls() {
    if (!counts_) return;
    const bool is_right = rules_.is_right();
    std::set<std::string> now;
    for (const OnScreen& on : usable()) {
        if (!on.id.starts_with(rules_.only)) continue;
        const bool is_first = now.insert(on.id).second;
        if (!on_screen_.contains(on.id)) note_way(on.id);
        if (!is_right) continue;
        Control& control = controls_[on.id];
        if (control.kind.empty()) {
            control.kind = on.widget.kind;
            control.workspace = workspace_id(ui().workspace);
        }
        if (is_first) ++control.frames, ++control.seen;
    }
    on_screen_ = std::move(now);
}

void Clicks::note_way(const std::string& id) {
    std::vector<std::string>& ways = ways_[id];
    if (last_ == id || std::find(ways.begin(), ways.end(), last_) != ways.end()) return;
    if (ways.size() == kMostWays) ways.erase(ways.begin());
    ways.push_back(last_);
}

void Clicks::check_state() {
    driver_.step(1);  // what a press changed late in its frame is drawn in the next one
    const std::string here = last_actions();
    const auto workspace_tab = [&] {
        return driver_.find(std::string("top_bar/workspaces/") + workspace_id(ui().workspace));
    };
    WidgetRecord chosen = workspace_tab();
    if (chosen.value != "chosen") {  // a run that just opened changes the workspace late in a frame
        driver_.step(1);
        chosen = workspace_tab();
    }
    EXPECT_TRUE(chosen.path.id.empty() || chosen.value == "chosen")
        << chosen.path.id << "; " << here;
    const WidgetRecord state = driver_.find("status/main/state");
    EXPECT_FALSE(state.value.empty()) << "there is no status line; " << here;
    for (const LogLine& line : ui().log)
        EXPECT_EQ(line.text.find(" stopped: "), std::string::npos) << line.text << "; " << here;
    EXPECT_TRUE(ui().settings.zoom >= 0.5 && ui().settings.zoom <= 3) << here;
    const auto layers = std::max<int64_t>(1, int64_t(ui().status.layers.size()));
    if (ui().has_model()) {
        EXPECT_TRUE(ui().selection.cell.layer >= 0 && ui().selection.cell.layer < layers) << here;
    }
    EXPECT_TRUE(std::isfinite(ui().selection.completion.sample.temperature)) << here;
}

void Clicks::restore() {
    if (rules_.is_right()) return;
    driver_.did("(restored)");  // what opened a menu that still stands stays the way to its rows
    rules_.restore();
    driver_.step(2);
}

void Clicks::explore() {
    const auto is_open = [](const auto& known) {
        return !known.second.is_done() &&
               known.second.tries < (known.second.frames < kSeenFrames ? kFewTries : kMostTries);
    };
    driver_.step(3);
    int passes = 0;
    for (int calm = 0; actions_ < rules_.most && calm < 60; ++actions_) {
        restore();
        act_once();
        check_state();
        if (::testing::Test::HasFailure()) return;
        calm = std::any_of(controls_.begin(), controls_.end(), is_open) ? 0 : calm + 1;
        if (calm < 60 || (missing().empty() && lost().empty()) || ++passes > 3) continue;
        rules_.afresh();  // other luck for what is missing
        driver_.step(3);
        for (auto& [id, known] : controls_) known.tries = known.seen = 0;
        calm = 0;
    }
}

void Clicks::act_once() {
    stay_in_folder();
    const double luck = rng_.uniform();
    if (luck < 0.08) return wander();
    std::vector<OnScreen> list = usable(), todo;
    for (const OnScreen& on : list) {
        if (!on.id.starts_with(rules_.only)) continue;
        const Control& known = controls_[on.id];
        if (!known.is_done() && known.tries < kMostTries) todo.push_back(on);
    }
    if (!todo.empty() && luck < 0.92) return use(todo[pick(todo.size())]);
    std::vector<std::string> elsewhere;
    for (const auto& [id, known] : controls_)
        if (!known.is_done() && known.tries < kMostTries && known.frames > 0)
            elsewhere.push_back(id);
    if (!elsewhere.empty() && luck < 0.92) return go_after(elsewhere[pick(elsewhere.size())], 0);
    if (!list.empty()) use(list[pick(list.size())]);
}

// A key of an action, or another workspace.
void Clicks::wander() {
    std::vector<std::string> keys;
    for (const Action& action : ui().actions.all())
        if (!action.shortcut.empty()) keys.push_back(action.shortcut);
    last_ = "key " + keys[pick(keys.size())];
    driver_.did(last_);
    driver_.key(last_.substr(4));
    ui().commands.stay();
}

void Clicks::show_pane_of(const std::string& id) {
    const WidgetRecord tab = driver_.find(id.substr(0, id.find('/')) + "/main/tab");
    if (tab.value != "hidden") return;
    driver_.did("tab of " + id);
    (void)driver_.press(tab, place_in(tab));
}

// Presses something of the same pane, or of another one: what is looked for may stand behind it.
void Clicks::try_around(const std::string& id) {
    std::vector<OnScreen> near;
    const bool in_any = pick(2) == 0;  // of the workspace
    for (const OnScreen& on : usable())
        if ((in_any ? !on.id.starts_with("top_bar/")
                    : on.id.starts_with(id.substr(0, id.find('/') + 1))) &&
            (on.widget.kind == "button" || on.widget.kind == "segment" || on.widget.kind == "tab" ||
             on.widget.kind == "switch"))
            near.push_back(on);
    if (near.empty()) return;
    last_ = near[pick(near.size())].id;
    for (const OnScreen& on : near)
        if (on.id == last_) {
            (void)press(on);
            ui().commands.stay();
            return;
        }
}

bool Clicks::nudge(const std::string& id) {
    std::vector<std::function<void()>> fitting;
    for (const auto& [prefix, make] : rules_.nudges) {
        if (id == prefix) {
            driver_.did("the state for " + id);
            make();
            return true;
        }
        if (id.starts_with(prefix)) fitting.push_back(make);
    }
    if (fitting.empty()) return false;
    driver_.did("a rare state for " + id);
    fitting[pick(fitting.size())]();
    driver_.step(3);
    return false;
}

// To the workspace and the pane of a control, then one of the ways that brought it up.
void Clicks::go_after(const std::string& id, int depth) {
    Control& known = controls_[id];
    const auto use_it = [&] {
        for (const OnScreen& on : usable())
            if (on.id == id) {
                use(on);
                return true;
            }
        return false;
    };
    ++known.tries;
    constexpr int kHard = 60;
    if (known.tries == kHard) fmt::print("    hard to reach: {}\n", id);
    if (use_it()) return;
    if (known.tries % kTriesAfresh == kTriesAfresh - 1) {
        driver_.did("a new window");
        rules_.afresh();
        driver_.step(3);
    } else if (known.tries % 4 == 0) {
        driver_.did("Esc, Esc, normal size, reset layout");
        driver_.key("Esc");
        driver_.key("Esc");
        ui().settings.zoom = 1;
        ui().actions.run(ui(), "view.reset_layout");
        driver_.step(4);
    }
    if (known.workspace != workspace_id(ui().workspace)) {
        const WidgetRecord tab = driver_.find("top_bar/workspaces/" + known.workspace);
        driver_.did(tab.path.id);
        (void)driver_.press(tab, place_in(tab));
    }
    show_pane_of(id);
    if (use_it()) return;
    if (known.tries % 2 == 1) try_around(id);
    if (known.tries % 3 == 2 && nudge(id)) {
        show_pane_of(id);
        (void)use_it();
        return;
    }
    if (use_it()) return;
    const std::vector<std::string>& ways = ways_[id];
    const std::string after = ways.empty() ? "" : ways[pick(ways.size())];
    if (after.starts_with("key ")) {
        last_ = after;
        driver_.did(after);
        driver_.key(after.substr(4));
    } else if (controls_.contains(after) && depth < 4) {
        go_after(after, depth + 1);
    }
    show_pane_of(id);
    (void)use_it();
}

void Clicks::use(const OnScreen& control) {
    Control& known = controls_[control.id];
    const std::string& kind = control.widget.kind;
    last_ = control.id;
    ++known.tries;
    const bool is_drawn =
        kind == "slider" || kind == "track" || kind == "map" || kind == "picture" || kind == "plot";
    const bool drags = !rules_.may_drag || rules_.may_drag(control.widget);
    if (known.reached == 0 || !(known.is_field() || is_drawn)) {
        if (press(control)) ++known.reached;
    } else if (known.is_field() && (kind == "text" || !drags || !known.is_done() || pick(2) == 0)) {
        if (!type_nonsense(control)) known.tries += 2;
    } else {
        driver_.did("drag or turn " + control.widget.path.id);
        const ImVec2 a = place_in(control.widget), b = place_in(control.widget);
        const ImVec2 near(a.x + (pick(2) == 0 ? 5.0f : -5.0f), a.y);
        if (kind == "field")
            driver_.drag(a, near, true);
        else if (pick(3) == 0)
            driver_.wheel(a, pick(2) == 0 ? 1.0f : -1.0f);
        else if (pick(3) == 0)
            (void)driver_.press(control.widget, a, 1 + int(pick(2)), int(pick(2)));
        else
            driver_.drag(a, b);
    }
    ui().commands.stay();
}

ImVec2 Clicks::place_in(const WidgetRecord& w) {
    const auto part = [&](float low, float high) {
        return low + (0.1f + 0.8f * static_cast<float>(rng_.uniform())) * (high - low);
    };
    return {part(w.min.x, w.max.x), part(w.min.y, w.max.y)};
}

bool Clicks::into_view(WidgetRecord& widget) {
    if (!widget.visible) {
        ui().recorder.scroll_to = widget.path.id;
        driver_.step(3);
        ui().recorder.scroll_to.clear();
        widget = driver_.find(widget.path.id);
    }
    return !widget.path.id.empty() && widget.visible;
}

bool Clicks::press(const OnScreen& control) {
    WidgetRecord widget = control.widget;
    if (control.id == "home/before_the_start/start_run") make_start_cheap();
    for (int i = 0; i < 5; ++i) {
        if (!into_view(widget)) return false;
        driver_.did("press " + widget.path.id);
        if (driver_.press(widget, place_in(widget))) return true;
        widget = driver_.find(widget.path.id);  // it may have gone, or moved
        if (widget.path.id.empty() || !is_uncovered(widget)) return false;
    }
    return false;
}

bool Clicks::type_nonsense(const OnScreen& control) {
    Control& known = controls_[control.id];
    const bool is_number = known.kind == "field";
    const std::vector<std::string>& all = nonsense_for(is_number);
    std::vector<size_t> left;
    for (size_t i = 0; i < all.size(); ++i)
        if (!known.nonsense.contains(i)) left.push_back(i);
    const size_t which = left.empty() ? pick(all.size()) : left[pick(left.size())];
    WidgetRecord widget = control.widget;
    if (!into_view(widget)) return false;
    driver_.did(fmt::format("type '{:.40}' into {}", all[which], widget.path.id));
    if (!driver_.press(widget, place_in(widget), is_number ? 2 : 1)) return false;  // a toast, say
    if (!ImGui::GetIO().WantTextInput || (is_number && !ui().edit.typing)) return false;
    driver_.type(all[which]);
    const WidgetRecord typed = driver_.find(widget.path.id);
    const bool is_its_own = !is_number && !widget.path.id.starts_with("controls/");
    if (is_its_own) {
        EXPECT_EQ(typed.value, all[which]) << last_actions();
    }
    driver_.key("Enter");
    driver_.step(2);
    if (is_number && ui().edit.typing) driver_.key("Esc");
    known.nonsense.insert(which);
    const WidgetRecord now = driver_.find(widget.path.id);
    // NumberField::at_min: "the newest"
    const bool is_in_words =
        now.value.starts_with("the ") || now.value == "off" || now.value == "mean";
    if (is_number && !now.path.id.empty() && !is_in_words) {
        std::string error;
        EXPECT_TRUE(parse_number({.name = ""}, now.value, error).has_value())
            << "the field holds " << now.value << "; " << last_actions();
    }
    if (has_word(control.id, "filter") && !now.path.id.empty()) {  // or the rest stays out of sight
        (void)driver_.press(now, place_in(now));
        driver_.type("");
    }
    return true;
}

void Clicks::stay_in_folder() {
    const WidgetRecord path = driver_.find("file_browser/where/path");
    std::error_code ignored;
    if (path.path.id.empty() || path.value.starts_with(rules_.folder) ||
        !std::filesystem::is_directory(path.value, ignored))
        return;
    ui().recorder.scripted.request(path.path.id, rules_.folder);
    driver_.step(2);
    const WidgetRecord go = driver_.find("file_browser/where/go");
    (void)driver_.press(go, place_in(go));
}

// What the fields hold by now may need days and terabytes.
void Clicks::make_start_cheap() {
    ui().recorder.scripted.request("home/new_run/preset", "demo-mirror");
    driver_.step(3);
}

void Clicks::shake(int actions) {
    counts_ = false;
    const ImVec2 sizes[] = {{1600, 1000}, {1100, 700}, {800, 560}, {3200, 2000}, {320, 240}};
    for (int i = 0; i < actions && !::testing::Test::HasFailure(); ++i) {
        if (i % 12 == 0) {
            ImGui::GetIO().DisplaySize = sizes[pick(std::size(sizes))];
            ui().settings.theme = static_cast<ThemeName>(pick(3));
            ui().settings.zoom = pick(3) == 0 ? 2 : 1;
            driver_.did(fmt::format("display {} wide, zoom {}", ImGui::GetIO().DisplaySize.x,
                                    ui().settings.zoom));
            restore();
            driver_.step(3);
        }
        stay_in_folder();
        const std::vector<OnScreen> list = usable();
        if (list.empty() || pick(8) == 0)
            wander();
        else
            use(list[pick(list.size())]);
        if (driver_.find("status/main/state").path.id.empty())
            ADD_FAILURE() << "there is no status line; " << last_actions();
    }
    counts_ = true;
}

}  // namespace aft::app
