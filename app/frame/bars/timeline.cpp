// The timeline: step and loss at the left, the track with its pins and handle, LIVE at the right.
#include "app/frame/bars/timeline.h"

#include <imgui_internal.h>

#include <algorithm>
#include <cmath>

#include "app/frame/bars/note_pins.h"
#include "app/frame/bars/step_menu.h"
#include "app/frame/cards/overlays.h"
#include "app/widgets/buttons.h"
#include "app/widgets/combo.h"
#include "app/widgets/number_text.h"
#include "app/widgets/text.h"
#include "app/widgets/tooltip.h"
#include "core/nearest_step.h"
#include "core/text.h"

namespace aft::app {
namespace {
constexpr double kSpeeds[] = {0.5, 1, 2, 4};
constexpr const char* kSpeedWords[] = {"0.5\u00d7", "1\u00d7", "2\u00d7", "4\u00d7"};

// What was logged at this step or last before it; nothing before the first step.
std::optional<double> loss_at(const ModelView& ui, int64_t step) {
    const auto* loss = loss_column(ui.status.task, *ui.curves);
    if (loss == nullptr && !std::isfinite(ui.status.metric)) return std::nullopt;
    if (loss == nullptr) return ui.status.metric;
    const auto& steps = ui.curves->step;
    const auto after = std::upper_bound(steps.begin(), steps.end(), static_cast<double>(step));
    if (after == steps.begin()) return std::nullopt;
    return (*loss)[std::min(loss->size(), static_cast<size_t>(after - steps.begin())) - 1];
}

// "0", "20k", "78.1k", "2.5M"
std::string step_words(double step) {
    if (step < 10000) return group_thousands(std::llround(step));
    if (step >= 1e6) return fmt::format("{:.4g}M", step / 1e6);
    const double k = step / 1000;
    return fmt::format("{:.{}f}k", k, std::abs(k - std::round(k)) < 0.05 ? 0 : 1);
}

struct PinLook {
    const char* icon;
    ImU32 color;
};

PinLook pin_look(const Theme& t, const std::string& kind) {
    if (kind == "save") return {icon::save, t.text2};
    if (kind == "learning-rate" || kind == "setting") return {icon::tune, t.series[1]};
    if (kind == "undone") return {icon::undo, t.text3};
    if (kind == "intervention") return {icon::flask, t.series[3]};
    if (kind == "rewind") return {icon::history, t.text2};
    if (kind == "branch") return {icon::branch, t.text2};
    if (kind == "error") return {icon::error, t.error};
    return {icon::flag, t.series[2]};
}

// The step whose menu is asked for by the right button.
std::optional<int64_t> draw_pins(PaneContext& ui, const TimelineTrack& track,
                                 const std::vector<Event>& events) {
    std::optional<int64_t> menu;
    ImDrawList* draw = ImGui::GetWindowDrawList();
    float last_x = -1e9f;
    for (const Event& event : events) {
        const float x = std::round(track.x(static_cast<double>(event.step)));
        const PinLook look = pin_look(ui.theme, event.kind);
        draw->AddRectFilled({x, track.a.y + ui.px(8)}, {x + 1, track.b.y},
                            with_alpha(look.color, 0.6f));
        if (x - last_x < ui.px(10)) continue;  // a pin under another one says nothing
        last_x = x;
        const ImVec2 middle(x, track.a.y + ui.px(8));
        draw->AddCircleFilled(middle, ui.px(8), ui.theme.bar);
        icon_at(ui, middle, look.icon, {14, look.color});
        ImGui::SetCursorScreenPos({x - ui.px(8), track.a.y});
        const WidgetPath path =
            ui.recorder.claim(fmt::format("Pin {0} {1}##pin_{0}_{1}", event.kind, event.step));
        ImGui::SetNextItemAllowOverlap();
        if (ImGui::InvisibleButton(path.id.c_str(), {ui.px(16), ui.px(16)}))
            ui.selection.step = event.step;
        if (ImGui::IsItemClicked(ImGuiMouseButton_Right)) menu = event.step;
        ui.recorder.item("pin", path, event.text);
        tooltip(ui, {.name = fmt::format("step {}", group_thousands(event.step)),
                     .sentence = event.text});
    }
    return menu;
}

// What P has kept: a click goes back to its place and step. The step whose menu is asked for.
std::optional<int64_t> draw_kept(PaneContext& ui, const TimelineTrack& track) {
    std::optional<int64_t> menu;
    ImDrawList* draw = ImGui::GetWindowDrawList();
    for (size_t i = 0; i < ui.selection.pins.size(); ++i) {
        const Pin& pin = ui.selection.pins[i];
        const float x = std::round(track.x(static_cast<double>(pin.step)));
        const ImVec2 middle(x, track.b.y - ui.px(8));
        draw->AddRectFilled({x, track.a.y + ui.px(8)}, {x + 1, track.b.y},
                            with_alpha(ui.theme.text1, 0.6f));
        draw->AddCircleFilled(middle, ui.px(8), ui.theme.bar);
        icon_at(ui, middle, icon::pin, {14, ui.theme.text1});
        ImGui::SetCursorScreenPos({x - ui.px(8), middle.y - ui.px(8)});
        const WidgetPath path =
            ui.recorder.claim(fmt::format("Kept {0} {1}##kept_{0}_{1}", i, pin.step));
        ImGui::SetNextItemAllowOverlap();
        if (ImGui::InvisibleButton(path.id.c_str(), {ui.px(16), ui.px(16)})) {
            ui.selection.lock(Cell(pin.cell));
            ui.selection.step = pin.step == ui.status.step ? -1 : pin.step;
        }
        if (ImGui::IsItemClicked(ImGuiMouseButton_Right)) menu = pin.step;
        ui.recorder.item("pin", path, pin.shown());
        tooltip(ui, {.name = fmt::format("Pin at step {}", group_thousands(pin.step)),
                     .sentence = pin.shown()});
    }
    return menu;
}

// Beyond the track's end: its words stand there, on the hatch.
void draw_target(PaneContext& ui, const TimelineTrack& track) {
    const auto target = static_cast<double>(ui.status.target_step);
    if (target <= track.last) return;
    const std::string words = "to " + step_words(target) + " \u2192";
    const ImVec2 size = {text_extent(ui, words, text_size::hint).x + ui.px(8), ui.px(18)};
    const ImVec2 low = {track.b.x - size.x, track.b.y - size.y - ui.px(1)};
    ImGui::GetWindowDrawList()->AddRectFilled(low, {track.b.x, track.b.y - ui.px(1)}, ui.theme.bar);
    text_at(ui, {low.x + ui.px(4), low.y + ui.px(1)}, words, {text_size::hint, ui.theme.text2});
    ImGui::SetCursorScreenPos(low);
    ImGui::Dummy(size);
    ui.recorder.item("value", ui.recorder.claim("Target##target"),
                     std::to_string(ui.status.target_step));
    tooltip(ui, {.name = "Target step " + group_thousands(ui.status.target_step),
                 .sentence = "It is far away: the track shows what is trained, and reaches the "
                             "target when a fifth of the way is done."});
}

void draw_numbers(DrawContext& ui, const TimelineTrack& track) {
    const double last = track.last;
    double pitch = std::pow(10.0, std::floor(std::log10(std::max(1.0, last))));
    if (last / pitch > 5)
        pitch *= 2;
    else if (last / pitch < 2.2)
        pitch /= 2;
    if (last / pitch > 6) pitch *= 2;
    pitch = std::max(1.0, pitch);
    const float y = track.b.y + ui.px(5);
    const float end = track.b.x - text_extent(ui, step_words(last), text_size::hint).x - ui.px(20);
    for (double step = 0; step < last; step += pitch) {
        const std::string words = step_words(step);
        const float width = text_extent(ui, words, text_size::hint).x;
        const float x = step == 0 ? track.a.x : track.x(step) - width / 2;
        if (x + width < end) text_at(ui, {x, y}, words, {text_size::hint, ui.theme.text3});
    }
    text_right(ui, {track.b.x, y}, step_words(last), {text_size::hint, ui.theme.text3});
}

}  // namespace

void Timeline::advance(PaneContext& ui) {
    if (!playing_) return;
    ui.want_frames(1);
    if (ui.time < next_) return;
    next_ = ui.time + 0.2 / kSpeeds[speed_];
    const int64_t before = ui.shown_step();
    scrub(ui, 1);
    if (ui.selection.step < 0 || ui.shown_step() == before) playing_ = false;
}

void Timeline::toggle_play(PaneContext& ui) {
    playing_ = !playing_ && !ui.history.empty();
    next_ = ui.time;
    if (playing_ && ui.selection.step < 0) go_first(ui), playing_ = true;
}

void Timeline::go_first(ViewState& ui) {
    playing_ = false;
    if (!ui.history.empty()) ui.selection.step = ui.history.front();
}

void Timeline::scrub(ViewState& ui, int direction) {
    const auto& moments = ui.history;
    if (moments.empty()) return;
    const int64_t now = ui.shown_step();
    if (direction > 0) {
        const auto next = std::upper_bound(moments.begin(), moments.end(), now);
        ui.selection.step = next == moments.end() ? -1 : *next;
    } else {
        const auto at = std::lower_bound(moments.begin(), moments.end(), now);
        ui.selection.step = at == moments.begin() ? moments.front() : *(at - 1);
    }
}

// "step   training 0.936 bits/dim": between `left` and `right.x`; "step" gives way.
static void draw_loss_words(PaneContext& ui, ImVec2 right, float left) {
    const std::optional<double> loss = loss_at(ui, ui.shown_step());
    const bool is_nan = loss && !std::isfinite(*loss);
    const std::string number = !loss ? "\u2013" : is_nan ? "NaN" : short_value(*loss, 3);
    std::string unit = ui.status.metric_words;
    (void)loss_column(ui.status.task, *ui.curves, &unit);
    const TextStyle dim{text_size::hint, ui.theme.text3};
    const float y = right.y + ui.px(1);
    float x = right.x;
    text_right(ui, {x, y}, unit, dim);
    x -= text_extent(ui, unit, text_size::hint).x + ui.px(5);
    text_right(ui, {x, right.y}, number,
               {text_size::label, is_nan ? ui.theme.error : ui.theme.text1});
    x -= text_extent(ui, number, text_size::label).x + ui.px(5);
    text_right(ui, {x, y}, "training", dim);
    x -= text_extent(ui, "training", text_size::hint).x + ui.px(8);
    if (left + text_extent(ui, "step", text_size::hint).x <= x) text_at(ui, {left, y}, "step", dim);
    ImGui::SetCursorScreenPos({x, right.y});
    ImGui::Dummy({right.x - x, ui.px(16)});
    ui.recorder.item("value", ui.recorder.claim("Loss##loss"), "training " + number + " " + unit);
}

void Timeline::draw_transport(Ui& ui, float height, bool is_small) {
    ui.recorder.set_section("Transport##transport");
    const ImVec2 at = ImGui::GetWindowPos();
    float y = at.y + (height - ui.px(26)) / 2;
    if (!is_small) {
        const std::string step = group_thousands(ui.shown_step());
        text_at(ui, {at.x + ui.px(14), at.y + ui.px(10)}, step,
                {text_size::read_out, ui.theme.text1, Face::semibold});
        const float used = text_extent(ui, step, text_size::read_out, Face::semibold).x;
        draw_loss_words(ui, {at.x + ui.px(234), at.y + ui.px(14)},
                        at.x + ui.px(14) + used + ui.px(7));
        y = at.y + ui.px(46);
    }
    ImGui::SetCursorScreenPos({at.x + ui.px(10), y});
    const std::string why = ui.history.empty() ? "No moments are stored yet." : "";
    const auto tool = [&](const char* name, const char* mark, const char* action, const char* tip) {
        const bool pressed = button(ui, {.name = name,
                                         .icon = mark,
                                         .kind = ButtonKind::icon,
                                         .why_not = why,
                                         .tip = tip,
                                         .shortcut = keys_of(ui.actions, action)});
        ImGui::SameLine(0, ui.px(4));
        return pressed;
    };
    if (tool("First##first", icon::first, "time.first", "The first stored moment.")) go_first(ui);
    if (tool("Back##back", icon::step_back, "time.back", "The stored moment before."))
        scrub(ui, -1);
    if (tool(playing_ ? "Pause playback##pause" : "Play##play", playing_ ? icon::pause : icon::play,
             "time.play", "Plays through the stored moments."))
        toggle_play(ui);
    if (tool("Forward##forward", icon::step, "time.forward", "The next stored moment."))
        scrub(ui, 1);
    if (tool("Last##last", icon::last, "time.live", "Follows training.")) go_live(ui);
    if (is_small) return;
    static const std::vector<std::string> words(std::begin(kSpeedWords), std::end(kSpeedWords));
    ImGui::SameLine(0, ui.px(8));
    combo(ui, "Speed##speed", speed_,
          {.list = words,
           .width = 58,
           .ground = ui.theme.field_on_bar(),
           .tip = "How fast Play goes through the stored moments."});
}

void Timeline::draw_track(Ui& ui, ImVec2 a, ImVec2 b) {
    ui.recorder.set_section("Track##track");
    const TimelineTrack track{a, b, lines_.axis_end(ui)};
    ImDrawList* draw = ImGui::GetWindowDrawList();
    const auto now = static_cast<double>(ui.status.step);
    const float reached = track.x(now);
    if (ui.status.target_step > ui.status.step) draw_hatch(ui, {{reached, a.y}, b});
    const bool is_live = ui.selection.step < 0;
    const double handle = is_live ? now : static_cast<double>(ui.selection.step);
    lines_.draw(ui, track, handle);
    draw->AddRectFilled({a.x, b.y}, {b.x, b.y + 1}, ui.theme.line);
    ImGui::SetCursorScreenPos(a);
    ImGui::SetNextItemAllowOverlap();
    const Region r =
        region(ui, "track", "Track##track",
               {{b.x - a.x, b.y - a.y}, is_live ? "live" : std::to_string(ui.selection.step)});
    if (r.held && !ui.history.empty()) {
        const double wanted = r.mouse.x / (b.x - a.x) * track.last;
        playing_ = false;
        ui.selection.step = wanted >= now ? -1 : nearest_step(ui.history, std::llround(wanted));
    }
    draw_target(ui, track);
    // Under the icons of the pins: the one of its own step stays whole.
    const float x = std::round(track.x(handle));
    draw->AddRectFilled({x - ui.px(1), a.y - ui.px(4)}, {x + ui.px(1), b.y}, ui.theme.accent);
    draw->AddRectFilled({x - ui.px(5), a.y - ui.px(9)}, {x + ui.px(5), a.y}, ui.theme.accent,
                        ui.px(3));
    std::optional<int64_t> menu = draw_pins(ui, track, pins_.of(ui));
    if (const auto of_note = draw_note_pins(ui, track)) menu = of_note;
    if (const auto of_kept = draw_kept(ui, track)) menu = of_kept;
    if (r.hovered && ImGui::IsMouseClicked(ImGuiMouseButton_Right) && !menu)
        menu = step_at(ui, track, r.mouse.x);
    if (menu) {
        menu_step_ = *menu;
        if (!ui.history.empty()) ui.selection.step = nearest_step(ui.history, *menu);
        ImGui::OpenPopup("pin");
    }
    draw_step_menu(ui, menu_step_);
}

// Under the pill, round `at`.
static void draw_behind(PaneContext& ui, ImVec2 at, bool is_tight) {
    const std::string words =
        (is_tight ? "maps " : "maps of step ") + step_words(ui.weights_step());
    const float width = text_extent(ui, words, text_size::hint).x;
    text_at(ui, {at.x - width / 2, at.y}, words, {text_size::hint, ui.theme.text3});
    ui.recorder.area({.kind = "label",
                      .path = ui.recorder.claim("Maps of step##maps_of"),
                      .min = {at.x - width / 2, at.y},
                      .max = {at.x + width / 2, at.y + ui.px(text_size::hint)},
                      .value = std::to_string(ui.weights_step()),
                      .why_not = {}});
}

void Timeline::draw_live(PaneContext& ui, ImVec2 a, ImVec2 b) {
    const bool is_live = ui.selection.step < 0;
    const RunState state = ui.status.state;
    const bool runs = state == RunState::running || state == RunState::stopping;
    const ImVec2 size(std::min(ui.px(104), b.x - a.x - ui.px(20)), ui.px(26));
    const bool is_tight = size.x < ui.px(96);
    // Of a run that another process trains: the curves are newer than the maps.
    const bool is_behind = is_live && ui.weights_step() < ui.status.step;
    const float up = is_behind ? ui.px(8) : 0;
    ImGui::SetCursorScreenPos({(a.x + b.x - size.x) / 2, (a.y + b.y - size.y) / 2 - up});
    const WidgetPath path = ui.recorder.claim("Live##live");
    if (ImGui::InvisibleButton(path.id.c_str(), size, ImGuiButtonFlags_EnableNav)) go_live(ui);
    const ImVec2 low = ImGui::GetItemRectMin(), high = ImGui::GetItemRectMax();
    ImDrawList* draw = ImGui::GetWindowDrawList();
    const ImU32 ground = is_live && runs          ? mix(ui.theme.bar, ui.theme.ok, 0.17f)
                         : ImGui::IsItemHovered() ? ui.theme.field_hover
                                                  : ui.theme.field_on_bar();
    draw->AddRectFilled(low, high, ground, size.y / 2);
    const float middle = (low.y + high.y) / 2;
    const ImU32 ink = !is_live ? ui.theme.text1 : runs ? ui.theme.ok : ui.theme.text2;
    const char* words = is_live && !runs ? "Latest"
                        : is_live        ? "LIVE"
                        : runs           ? is_tight ? "LIVE" : "Go live"
                        : is_tight       ? "Latest"
                                         : "To latest";
    const float width = text_extent(ui, words, text_size::label, Face::semibold).x;
    const float key =
        is_live || is_tight ? 0 : text_extent(ui, "End", text_size::hint).x + ui.px(8);
    const float x = (low.x + high.x - width - key - ui.px(14)) / 2;
    if (is_live && runs)
        draw->AddCircleFilled({x + ui.px(4), middle}, ui.px(4), ink);
    else
        draw->AddCircle({x + ui.px(4), middle}, ui.px(4), ui.theme.text3, 0, ui.px(1.5f));
    text_at(ui, {x + ui.px(14), middle - ui.px(text_size::label) / 2}, words,
            {text_size::label, ink, Face::semibold});
    if (key > 0)
        text_at(ui, {x + ui.px(22) + width, middle - ui.px(text_size::hint) / 2}, "End",
                {text_size::hint, ui.theme.text3});
    ui.recorder.item("button", path, !is_live ? "" : runs ? "live" : "latest");
    if (is_behind) draw_behind(ui, {(a.x + b.x) / 2, high.y + ui.px(1)}, is_tight);
    tooltip(ui,
            {.name = "Go live",
             .key = "End",
             .sentence = is_behind ? "The curves follow training, the maps its last checkpoint."
                                   : "All views follow training, or show its last step where it "
                                     "rests."});
}

void Timeline::draw(Ui& ui, const FrameAreas& areas, ImVec2 display) {
    const float top = display.y - areas.status - areas.timeline;
    const BarScope bar(
        "Timeline", {.at = {0, top}, .size = {display.x, areas.timeline}, .ground = ui.theme.bar});
    ui.recorder.set_pane("Timeline##timeline");
    ImGui::GetWindowDrawList()->AddRectFilled({0, top}, {display.x, top + ui.px(2)}, ui.theme.gap);
    if (!ui.has_model()) {
        text_at(ui, {ui.px(14), top + (areas.timeline - ui.px(text_size::hint)) / 2},
                "The timeline appears when a run is open.", {text_size::hint, ui.theme.text3});
        return;
    }
    lines_.update(ui);
    const bool is_small = areas.width != Width::wide;
    draw_transport(ui, areas.timeline, is_small);
    const float left = ui.px(is_small ? 204 : 256), right = display.x - ui.px(is_small ? 84 : 132);
    const ImVec2 a(left, top + ui.px(12)), b(right, is_small ? top + ui.px(44) : top + ui.px(56));
    draw_track(ui, a, b);
    if (!is_small) draw_numbers(ui, {a, b, lines_.axis_end(ui)});
    draw_live(ui, {right, a.y - ui.px(6)}, {display.x, b.y});
}

}  // namespace aft::app
