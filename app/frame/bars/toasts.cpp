#include "app/frame/bars/toasts.h"

#include <imgui_internal.h>

#include <algorithm>

#include "app/frame/cards/overlays.h"
#include "app/widgets/buttons.h"
#include "app/widgets/states.h"
#include "app/widgets/text.h"

namespace aft::app {

namespace {

enum class ToastAnswer { none, close, act };

struct ToastPlace {
    float width, gap;  // pixels; gap: to the right edge
};

// Over the pane at the right alone, so that none covers what is worked on in the middle.
ToastPlace place_of(const Ui& ui) {
    if (ui.workspace == Workspace::home) return {ui.px(372), ui.px(16)};
    return {ui.px(288), ui.px(6)};
}

ToastAnswer draw_toast(Ui& ui, const Toast& toast, int index, float& bottom) {
    const auto [width, gap] = place_of(ui);
    const float inner = width - ui.px(76);
    const float title =
        ui.fonts.semibold
            ->CalcTextSizeA(ui.px(text_size::body), FLT_MAX, inner, toast.title.c_str())
            .y;
    const float detail =
        toast.detail.empty()
            ? 0
            : ui.fonts.regular
                      ->CalcTextSizeA(ui.px(text_size::hint), FLT_MAX, inner, toast.detail.c_str())
                      .y +
                  ui.px(4);
    const float height = ui.px(24) + title + detail + (toast.action.empty() ? 0 : ui.px(32));
    const ImVec2 display = ImGui::GetIO().DisplaySize;
    const ImVec2 at(display.x - width - gap, bottom - height);
    bottom = at.y - ui.px(8);
    ImGui::PushStyleVar(ImGuiStyleVar_WindowRounding, ui.px(8));
    ImGui::PushStyleVar(ImGuiStyleVar_WindowBorderSize, 1.0f);
    ImGui::PushStyleColor(ImGuiCol_Border, ui.theme.strong);
    const std::string name = "Toast " + std::to_string(index);
    const BarScope bar(name.c_str(),
                       {.at = at, .size = {width, height}, .ground = ui.theme.raised});
    ImGui::BringWindowToDisplayFront(ImGui::GetCurrentWindow());
    ImGui::PopStyleColor();
    ImGui::PopStyleVar(2);
    const ImU32 color = kind_color(ui.theme, toast.kind);
    ImGui::GetWindowDrawList()->AddRectFilled({at.x, at.y + ui.px(8)},
                                              {at.x + ui.px(3), at.y + height - ui.px(8)}, color);
    icon_at(ui, {at.x + ui.px(24), at.y + ui.px(20)}, kind_icon(toast.kind), {20, color});
    ToastAnswer answer = ToastAnswer::none;
    ImGui::SetCursorScreenPos({at.x + width - ui.px(34), at.y + ui.px(8)});
    if (button(ui, {.name = "Close##close",
                    .icon = icon::close,
                    .kind = ButtonKind::icon,
                    .tip = "The log keeps what it says."}))
        answer = ToastAnswer::close;
    ImGui::SetCursorScreenPos({at.x + ui.px(44), at.y + ui.px(12)});
    ImGui::BeginGroup();
    ImGui::PushTextWrapPos(ui.px(44) + inner);
    text(ui, toast.title, {text_size::body, ui.theme.text1, Face::semibold});
    if (!toast.detail.empty()) {
        ImGui::SetCursorPosY(ImGui::GetCursorPosY() - ui.px(2));
        text(ui, toast.detail, {text_size::hint, ui.theme.text2});
    }
    ImGui::PopTextWrapPos();
    if (!toast.action.empty() &&
        button(ui,
               {.name = {toast.action, "action"}, .kind = ButtonKind::ghost, .tip = toast.title}))
        answer = ToastAnswer::act;
    ImGui::EndGroup();
    ui.recorder.item("toast", ui.recorder.claim("Toast##toast"), toast.title + " " + toast.detail);
    return answer;
}

}  // namespace

void draw_toasts(Ui& ui) {
    if (ui.toasts.update(ui.time)) ui.want_frames(3);
    const std::vector<Toast> shown = ui.toasts.shown();
    const bool has_timeline = ui.workspace != Workspace::home;
    for (const Toast& toast : shown)
        if (toast.kind != ToastKind::error) ui.want_frame_at(toast.born + kToastSeconds + 0.01);
    float bottom = ImGui::GetIO().DisplaySize.y - ui.px(has_timeline ? 122 : 38);
    std::optional<size_t> closed;
    ToastAnswer answer = ToastAnswer::none;
    for (size_t i = 0; i < shown.size(); ++i) {
        const ToastAnswer now = draw_toast(ui, shown[i], static_cast<int>(i), bottom);
        if (now != ToastAnswer::none) closed = i, answer = now;
    }
    if (!closed) return;
    ui.toasts.close(*closed);
    if (answer == ToastAnswer::act && shown[*closed].run) shown[*closed].run(ui);
    ui.want_frames(3);
}

}  // namespace aft::app
