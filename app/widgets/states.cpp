#include "app/widgets/states.h"

#include <imgui_internal.h>

#include <algorithm>
#include <cmath>

#include "app/widgets/buttons.h"
#include "app/widgets/text.h"
#include "core/check.h"

namespace aft::app {

namespace {

void draw_grid(const DrawContext& ui, ImVec2 at) {
    ImDrawList* draw = ImGui::GetWindowDrawList();
    const float cell = ui.px(32), pitch = ui.px(38);
    for (int y = 0; y < 4; ++y)
        for (int x = 0; x < 6; ++x) {
            const ImVec2 a(at.x + static_cast<float>(x) * pitch,
                           at.y + static_cast<float>(y) * pitch);
            draw->AddRect(a, {a.x + cell, a.y + cell}, ui.theme.line, ui.px(3), 0, ui.px(1.5f));
            if (x != y + 1) continue;
            const float in = ui.px(10);
            draw->AddRectFilled({a.x + in, a.y + in}, {a.x + cell - in, a.y + cell - in},
                                ui.theme.line, ui.px(2));
        }
}

void draw_curve(const DrawContext& ui, ImVec2 at) {
    ImDrawList* draw = ImGui::GetWindowDrawList();
    const float width = ui.px(222), height = ui.px(146);
    draw->AddLine(at, {at.x, at.y + height}, ui.theme.line, ui.px(1.5f));
    draw->AddLine({at.x, at.y + height}, {at.x + width, at.y + height}, ui.theme.line, ui.px(1.5f));
    for (int i = 0; i <= 48; ++i) {
        const float x = static_cast<float>(i) / 48;
        draw->PathLineTo({at.x + ui.px(6) + x * (width - ui.px(6)),
                          at.y + height * (0.9f - 0.85f * std::exp(-4.5f * x))});
    }
    draw->PathStroke(ui.theme.line, 0, ui.px(2));
}

void draw_icon(const DrawContext& ui, ImVec2 at, const char* icon) {
    const float width = ui.px(222), height = ui.px(146);
    ImDrawList* draw = ImGui::GetWindowDrawList();
    draw->AddRect(at, {at.x + width, at.y + height}, ui.theme.line, ui.px(6), 0, ui.px(1.5f));
    icon_at(ui, {at.x + width / 2, at.y + height / 2}, icon, {56, ui.theme.line});
}

void draw_outline(const DrawContext& ui, Drawing drawing, ImVec2 at) {
    switch (drawing) {
        case Drawing::grid:
            draw_grid(ui, at);
            return;
        case Drawing::curve:
            draw_curve(ui, at);
            return;
        case Drawing::picture:
            draw_icon(ui, at, icon::picture);
            return;
        case Drawing::text:
            draw_icon(ui, at, icon::text);
            return;
        case Drawing::layers:
            draw_icon(ui, at, icon::layers);
            return;
        case Drawing::flask:
            draw_icon(ui, at, icon::flask);
            return;
        case Drawing::compare:
            draw_icon(ui, at, icon::compare);
            return;
    }
}

struct TextLine {
    float left, width;
};

void centered(const DrawContext& ui, TextLine line, std::string_view words,
              const TextStyle& style) {
    const float wide = text_extent(ui, words, style.size, style.face).x;
    const float y = ImGui::GetCursorScreenPos().y;
    if (wide <= std::min(line.width, ui.px(480))) {
        text_at(ui, {line.left + (line.width - wide) / 2, y}, words, style);
        ImGui::Dummy({1, ui.px(style.size)});
        return;
    }
    // Broken at blanks, every line in the middle.
    const float most = std::min(line.width, ui.px(480));
    std::string now;
    const auto put = [&] {
        const float at =
            line.left + (line.width - text_extent(ui, now, style.size, style.face).x) / 2;
        text_at(ui, {at, ImGui::GetCursorScreenPos().y}, now, style);
        ImGui::Dummy({1, ui.px(style.size)});
        now.clear();
    };
    for (size_t at = 0; at < words.size();) {
        const size_t end = std::min(words.find(' ', at), words.size());
        const std::string word(words.substr(at, end - at));
        if (!now.empty() && text_extent(ui, now + " " + word, style.size, style.face).x > most)
            put();
        now += (now.empty() ? "" : " ") + word;
        at = end + 1;
    }
    put();
}

}  // namespace

void empty_state(Ui& ui, const EmptyState& spec) {
    const ImVec2 available = ImGui::GetContentRegionAvail();
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const bool has_drawing = available.y > ui.px(360) && available.x > ui.px(240);
    const float height = ui.px(has_drawing ? 330 : 150);
    float y = at.y + std::max(0.0f, (available.y - height) * 0.38f);
    if (has_drawing) {
        draw_outline(ui, spec.drawing,
                     {std::round(at.x + (available.x - ui.px(222)) / 2), std::round(y)});
        y += ui.px(186);
    }
    ImGui::SetCursorScreenPos({at.x, y});
    centered(ui, {at.x, available.x}, spec.title,
             {text_size::empty, ui.theme.text1, Face::semibold});
    ui.recorder.item("empty", ui.recorder.claim("Empty state##empty_state"),
                     spec.title + ". " + spec.sentence);
    ImGui::SetCursorScreenPos({at.x, y + ui.px(28)});
    centered(ui, {at.x, available.x}, spec.sentence,
             {text_size::label, ui.theme.text2, Face::regular});
    const bool two = !spec.secondary.empty();
    const float wide = ui.px(150), gap = ui.px(12), total = two ? 2 * wide + gap : wide;
    float x = at.x + std::max(0.0f, (available.x - total) / 2);
    const auto place = [&](const std::string& action, const std::string& words, ButtonKind kind) {
        ImGui::SetCursorScreenPos({std::round(x), ImGui::GetCursorScreenPos().y});
        const Action* found = ui.actions.find(action);
        AFT_CHECK(found != nullptr, "there is no action '{}'", action);
        const bool is_pressed = button(ui, {.name = {found->name, action},
                                            .icon = found->icon,
                                            .kind = kind,
                                            .why_not = ui.actions.why_not(ui, action),
                                            .tip = found->sentence,
                                            .shortcut = found->shortcut,
                                            .width = 150,
                                            .height = 32,
                                            .shown = words});
        ui.recorder.runs_action(action);
        if (is_pressed) ui.actions.run(ui, action);
        x += wide + gap;
    };
    ImGui::SetCursorScreenPos({at.x, ImGui::GetCursorScreenPos().y + ui.px(8)});
    if (!spec.primary.empty()) place(spec.primary, spec.primary_words, ButtonKind::primary);
    if (two) {
        ImGui::SameLine(0, gap);
        place(spec.secondary, spec.secondary_words, ButtonKind::normal);
    }
    if (spec.hint.empty()) return;
    ImGui::SetCursorScreenPos({at.x, ImGui::GetCursorScreenPos().y + ui.px(10)});
    centered(ui, {at.x, available.x}, spec.hint, {text_size::hint, ui.theme.text3, Face::regular});
}

ImU32 kind_color(const Theme& t, ToastKind kind) {
    switch (kind) {
        case ToastKind::done:
            return t.ok;
        case ToastKind::info:
            return t.text2;
        case ToastKind::warning:
            return t.warn;
        case ToastKind::error:
            return t.error;
    }
    return t.text2;
}

const char* kind_icon(ToastKind kind) {
    switch (kind) {
        case ToastKind::done:
            return icon::ok;
        case ToastKind::info:
            return icon::info;
        case ToastKind::warning:
            return icon::warning;
        case ToastKind::error:
            return icon::error;
    }
    return icon::info;
}

void banner(Ui& ui, const Banner& spec) {
    const ImVec2 a = ImGui::GetCursorScreenPos();
    const float width = ImGui::GetContentRegionAvail().x;
    const ImU32 color = kind_color(ui.theme, spec.kind);
    ImDrawList* draw = ImGui::GetWindowDrawList();
    draw->ChannelsSplit(2);
    draw->ChannelsSetCurrent(1);
    ImGui::SetCursorScreenPos({a.x + ui.px(44), a.y + ui.px(12)});
    ImGui::BeginGroup();
    ImGui::PushTextWrapPos(ImGui::GetCursorPosX() + width - ui.px(60));
    text(ui, spec.title, {text_size::body, ui.theme.text1, Face::semibold});
    text(ui, spec.sentence, {text_size::label, ui.theme.text2});
    ImGui::PopTextWrapPos();
    for (size_t i = 0; i < spec.actions.size(); ++i) {
        if (i > 0)
            ImGui::SameLine();
        else
            ImGui::Dummy({1, ui.px(2)});
        action_button(ui, spec.actions[i],
                      spec.kind == ToastKind::error ? ButtonKind::danger : ButtonKind::normal);
    }
    ImGui::EndGroup();
    const ImVec2 b(a.x + width, ImGui::GetItemRectMax().y + ui.px(12));
    icon_at(ui, {a.x + ui.px(24), a.y + ui.px(20)}, kind_icon(spec.kind), {20, color});
    draw->ChannelsSetCurrent(0);
    draw->AddRectFilled(a, b, mix(ui.theme.pane, color, 0.1f), ui.px(6));
    draw->AddRectFilled(a, {a.x + ui.px(3), b.y}, color);
    draw->ChannelsMerge();
    ImGui::SetCursorScreenPos({a.x, b.y + ui.px(8)});
    ImGui::Dummy({1, 1});
    ui.recorder.area({.kind = "banner",
                      .path = ui.recorder.claim("Banner##banner"),
                      .min = a,
                      .max = b,
                      .value = spec.title + " " + spec.sentence,
                      .why_not = {}});
}

bool progress_line(DrawContext& ui, std::string_view words, double fraction, bool cancel) {
    const ImGuiWindow* window = ImGui::GetCurrentWindowRead();
    // From edge to edge, over a scroll bar.
    const ImRect& pane = window->OuterRectClipped;
    const ImVec2 a(pane.Min.x, window->InnerRect.Min.y);
    const float width = pane.GetWidth();
    ImDrawList* draw = ImGui::GetWindowDrawList();
    // How much of it is not known: the whole line, pale.
    const float share = fraction < 0 ? 1.0F : static_cast<float>(std::clamp(fraction, 0.0, 1.0));
    const ImU32 color = fraction < 0 ? with_alpha(ui.theme.accent, 0.4F) : ui.theme.accent;
    draw->PushClipRect(pane.Min, pane.Max);
    draw->AddRectFilled(a, {a.x + width, a.y + ui.px(2)}, ui.theme.field_pressed);
    draw->AddRectFilled(a, {a.x + width * share, a.y + ui.px(2)}, color);
    draw->PopClipRect();
    if (ui.numbers != nullptr)
        ui.numbers->unread = !words.empty()  ? std::string(words)
                             : fraction >= 0 ? fmt::format("{:.0f} % are there", 100 * fraction)
                                             : "this view is read anew";
    if (words.empty()) return false;
    if (cancel) ImGui::AlignTextToFramePadding();
    text(ui, words, {text_size::hint, ui.theme.text3});
    ui.recorder.item("progress", ui.recorder.claim("Progress##progress"), std::string(words));
    if (!cancel) return false;
    ImGui::SameLine();
    return button(ui, {.name = "Cancel##cancel", .kind = ButtonKind::ghost, .tip = "Stops this."});
}

bool cancelled_line(DrawContext& ui, std::string_view words) {
    if (ui.numbers != nullptr) ui.numbers->unread = std::string(words);
    ImGui::AlignTextToFramePadding();
    text(ui, words, {text_size::hint, ui.theme.text3});
    ImGui::SameLine();
    return button(ui, {.name = "Compute the rest##compute_the_rest",
                       .kind = ButtonKind::ghost,
                       .tip = "Computes what was cancelled."});
}

void progress_bar(const DrawContext& ui, double fraction, ImU32 color, float height) {
    const ImVec2 a = ImGui::GetCursorScreenPos();
    const float width = ImGui::GetContentRegionAvail().x, h = ui.px(height);
    ImDrawList* draw = ImGui::GetWindowDrawList();
    draw->AddRectFilled(a, {a.x + width, a.y + h}, ui.theme.field_pressed, h / 2);
    const auto share = static_cast<float>(std::clamp(fraction, 0.0, 1.0));
    if (share > 0) draw->AddRectFilled(a, {a.x + width * share, a.y + h}, color, h / 2);
    ImGui::Dummy({width, h});
}

void chip(DrawContext& ui, const WidgetName& name, const char* icon, ImU32 color) {
    const ImVec2 a = ImGui::GetCursorScreenPos();
    const float wide = text_extent(ui, name.words, text_size::hint, Face::medium).x;
    const ImVec2 size(wide + ui.px(32), ui.px(20));
    const float share = ui.theme.name == ThemeName::light ? 0.12f : 0.17f;
    ImGui::GetWindowDrawList()->AddRectFilled(a, {a.x + size.x, a.y + size.y},
                                              mix(ui.theme.pane, color, share), ui.px(4));
    icon_at(ui, {a.x + ui.px(13), a.y + size.y / 2}, icon, {14, color});
    text_at(ui, {a.x + ui.px(24), a.y + (size.y - ui.px(text_size::hint)) / 2}, name.words,
            {text_size::hint, color, Face::medium});
    ImGui::Dummy(size);
    ui.recorder.item("chip", ui.recorder.claim(name), name.words);
}

ImU32 state_color(const Theme& t, RunState state) {
    switch (state) {
        case RunState::running:
            return t.ok;
        case RunState::paused:
            return t.warn;
        case RunState::error:
            return t.error;
        default:
            return t.text2;
    }
}

RunState shown_state(const Status& status) {
    const bool failed = status.state == RunState::paused && !status.error.empty();
    return failed ? RunState::error : status.state;
}

const char* state_icon(RunState state) {
    switch (state) {
        case RunState::running:
            return icon::play;
        case RunState::paused:
            return icon::pause;
        case RunState::error:
            return icon::error;
        case RunState::opening:
            return icon::history;
        case RunState::ready:
            return icon::ring;
        default:
            return icon::stop;
    }
}

}  // namespace aft::app
