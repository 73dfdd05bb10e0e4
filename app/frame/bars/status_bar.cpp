// The status bar: state, step, speed, costs, memory, and the last message at the right.
#include "app/frame/bars/status_bar.h"

#include <cmath>

#include "app/frame/cards/overlays.h"
#include "app/widgets/number_text.h"
#include "app/widgets/states.h"
#include "core/text.h"

namespace aft::app {

namespace {

struct StatusPen {
    float x, middle, end;
};

void put(DrawContext& ui, StatusPen& pen, std::string_view label, const std::string& value) {
    const float words = text_extent(ui, label, text_size::hint).x;
    const float number = text_extent(ui, value, text_size::hint).x;
    if (pen.x + words + number + ui.px(5) > pen.end) return;
    const float y = pen.middle - ui.px(text_size::hint) / 2;
    if (!label.empty()) {
        text_at(ui, {pen.x, y}, label, {text_size::hint, ui.theme.text3});
        pen.x += words + ui.px(5);
    }
    text_at(ui, {pen.x, y}, value, {text_size::hint, ui.theme.text1});
    pen.x += number + ui.px(17);
}

std::string milliseconds(double ms) {
    return ms > 0 ? fmt::format("{:.{}f} ms", ms, ms < 10 ? 1 : 0) : "\u2013";
}

// What scrubbing keeps in memory, with its limit.
std::string views_words(const ModelView& ui) {
    if (ui.session == nullptr) return "\u2013";
    const AnswersKept kept = ui.session->probes().kept();
    return byte_size(static_cast<double>(kept.bytes)) + " of " +
           byte_size(static_cast<double>(kept.limit));
}

void put_state(PaneContext& ui, StatusPen& pen) {
    const RunState state = shown_state(ui.status);
    const float y = pen.middle - ui.px(text_size::hint) / 2;
    if (state == RunState::empty) {
        text_at(ui, {pen.x, y}, "No model open", {text_size::hint, ui.theme.text2});
        pen.x += text_extent(ui, "No model open", text_size::hint).x + ui.px(18);
        return;
    }
    const ImU32 color = state_color(ui.theme, state);
    icon_at(ui, {pen.x + ui.px(6), pen.middle}, state_icon(state), {14, color});
    const char* words = state_name(state);
    text_at(ui, {pen.x + ui.px(18), y}, words, {text_size::hint, color, Face::medium});
    pen.x += ui.px(18) + text_extent(ui, words, text_size::hint, Face::medium).x + ui.px(18);
}

}  // namespace

void draw_status_bar(Ui& ui, const FrameAreas& areas, ImVec2 display) {
    const float top = display.y - areas.status;
    const BarScope bar("Status",
                       {.at = {0, top}, .size = {display.x, areas.status}, .ground = ui.theme.bar});
    ui.recorder.set_pane("Status##status");
    const Status& s = ui.status;
    const bool has_error = !s.error.empty();
    const std::string message = has_error ? s.error : s.message;
    const float words = std::min(text_extent(ui, message, text_size::hint).x, display.x * 0.4f);
    StatusPen pen{ui.px(12), top + areas.status / 2, display.x - words - ui.px(30)};
    put_state(ui, pen);
    const bool is_small = areas.width != Width::wide;
    const std::string draw_cost = ui.headless ? "\u2013" : milliseconds(ui.stats.draw_ms);
    if (s.state == RunState::empty) {
        put(ui, pen, "draw", draw_cost);
    } else {
        put(ui, pen, "step", group_thousands(s.step));
        if (ui.silent_s > 0) put(ui, pen, "no step for", duration(ui.silent_s));
        if (ui.selection.step >= 0) put(ui, pen, "shown", group_thousands(ui.selection.step));
        if (ui.silent_s == 0) put(ui, pen, "", speed_words(s) + " it/s");
        if (!is_small) put(ui, pen, "one step", milliseconds(s.step_ms));
        if (!is_small) put(ui, pen, "publish", milliseconds(s.publish_ms));
        put(ui, pen, "draw", draw_cost);
        put(ui, pen, "memory", memory_words(s));
        if (!is_small) put(ui, pen, "views", views_words(ui));
        put(ui, pen, "device", s.device);
        put(ui, pen, "maps", "copied");
    }
    const float y = pen.middle - ui.px(text_size::hint) / 2;
    const ImU32 ink = has_error ? ui.theme.error : ui.theme.text2;
    text_at(ui, {display.x - words - ui.px(12), y}, message,
            {text_size::hint, ink, Face::regular, words + 1});
    ImGui::SetCursorScreenPos({0, top});
    ImGui::Dummy({display.x, areas.status});
    ui.recorder.item("status", ui.recorder.claim("State##state"),
                     s.state == RunState::empty ? "No model open" : state_name(shown_state(s)));
    ui.recorder.item("status", ui.recorder.claim("Step##step"), std::to_string(s.step));
    if (ui.silent_s > 0)
        ui.recorder.item("status", ui.recorder.claim("No step for##silent"), duration(ui.silent_s));
    ui.recorder.item("status", ui.recorder.claim("Speed##speed"),
                     fmt::format("{:.3f}", s.steps_per_s));
    ui.recorder.item("status", ui.recorder.claim("Speed words##speed_words"), speed_words(s));
    ui.recorder.item("status", ui.recorder.claim("Costs##costs"),
                     fmt::format("step {:.2f} ms, publish {:.2f} ms", s.step_ms, s.publish_ms));
    ui.recorder.item("status", ui.recorder.claim("Memory##memory"), memory_words(s));
    ui.recorder.item("status", ui.recorder.claim("Views##views"), views_words(ui));
    ui.recorder.item("status", ui.recorder.claim("Draw##draw"),
                     fmt::format("{:.2f} ms, p95 {:.2f} ms", ui.stats.draw_ms, ui.stats.p95_ms));
    ui.recorder.item("status", ui.recorder.claim("Message##message"), message);
}

}  // namespace aft::app
