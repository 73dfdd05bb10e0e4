#include "app/frame/cards/overlays.h"

#include <imgui_internal.h>

#include <algorithm>
#include <cmath>

#include "app/state/actions.h"
#include "app/widgets/buttons.h"
#include "app/widgets/text.h"

namespace aft::app {

BarScope::BarScope(const char* name, const Place& place) {
    ImGui::SetNextWindowPos(place.at);
    ImGui::SetNextWindowSize(place.size);
    ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, place.padding);
    ImGui::PushStyleColor(ImGuiCol_WindowBg, place.ground);
    ImGui::Begin(name, nullptr,
                 ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove |
                     ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoBringToFrontOnFocus |
                     ImGuiWindowFlags_NoDocking | ImGuiWindowFlags_NoFocusOnAppearing);
    ImGui::PopStyleColor();
    ImGui::PopStyleVar();
}

BarScope::~BarScope() {
    ImGui::End();
}

OverlayScope::OverlayScope(const DrawContext& ui, const char* name, ImVec2 at, ImVec2 size) {
    const ImVec2 display = ImGui::GetIO().DisplaySize;
    // The ground is a window of its own, so that clicks do not reach what lies under it.
    ImGui::SetNextWindowPos({0, 0});
    ImGui::SetNextWindowSize(display);
    ImGui::PushStyleColor(ImGuiCol_WindowBg, IM_COL32(0, 0, 0, 115));
    ImGui::Begin((std::string(name) + " ground").c_str(), nullptr,
                 ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove |
                     ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoDocking |
                     ImGuiWindowFlags_NoNav);
    ImGui::BringWindowToDisplayFront(ImGui::GetCurrentWindow());
    is_left_ = ImGui::IsWindowHovered() && ImGui::IsMouseClicked(ImGuiMouseButton_Left);
    ImGui::End();
    ImGui::PopStyleColor();
    ImGui::SetNextWindowPos(at);
    ImGui::SetNextWindowSize(size);
    ImGui::PushStyleColor(ImGuiCol_WindowBg, ui.theme.raised);
    ImGui::PushStyleColor(ImGuiCol_Border, ui.theme.strong);
    ImGui::PushStyleVar(ImGuiStyleVar_WindowRounding, ui.px(10));
    ImGui::PushStyleVar(ImGuiStyleVar_WindowBorderSize, 1.0f);
    ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(ui.px(6), ui.px(6)));
    ImGui::Begin(name, nullptr,
                 ImGuiWindowFlags_NoTitleBar | ImGuiWindowFlags_NoResize | ImGuiWindowFlags_NoMove |
                     ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoDocking |
                     ImGuiWindowFlags_NoScrollbar);
    ImGui::BringWindowToDisplayFront(ImGui::GetCurrentWindow());
    ImGui::PopStyleVar(3);
    ImGui::PopStyleColor(2);
}

OverlayScope::~OverlayScope() {
    ImGui::End();
}

namespace {

ImVec2 fitting(const DrawContext& ui, ImVec2 display, ImVec2 size) {
    return {std::min(ui.px(size.x), display.x - ui.px(32)),
            std::min(ui.px(size.y), display.y - ui.px(110))};
}

ImVec2 card_place(const DrawContext& ui, ImVec2 display, ImVec2 size) {
    return {std::floor((display.x - fitting(ui, display, size).x) / 2), ui.px(72)};
}

}  // namespace

CardScope::CardScope(DrawContext& ui, ImVec2 display, const Card& card)
    : overlay_(ui, card.name, card_place(ui, display, card.size), fitting(ui, display, card.size)),
      is_left_(overlay_.is_left() || ImGui::IsKeyPressed(ImGuiKey_Escape)) {
    const ImVec2 size = fitting(ui, display, card.size);
    ImGui::SetCursorPos({ui.px(18), ui.px(14)});
    ImGui::BeginChild("inside", {size.x - ui.px(36), size.y - ui.px(28)},
                      ImGuiChildFlags_NavFlattened);
    text(ui, card.heading, {text_size::empty, ui.theme.text1, Face::semibold});
    ImGui::Dummy({1, ui.px(2)});
}

CardScope::~CardScope() {
    ImGui::EndChild();
}

void to_card_foot(const DrawContext& ui) {
    ImGui::SetCursorPosY(ImGui::GetWindowHeight() - ui.px(40));
}

void draw_keys(DrawContext& ui, float right, float middle, const std::string& shortcut) {
    if (shortcut.empty()) return;
    const std::string words = shortcut_words(shortcut);
    const float width = text_extent(ui, words, text_size::hint).x + ui.px(14);
    ImGui::GetWindowDrawList()->AddRectFilled({right - width, middle - ui.px(10)},
                                              {right, middle + ui.px(10)}, ui.theme.field_pressed,
                                              ui.px(4));
    text_at(ui, {right - width + ui.px(7), middle - ui.px(text_size::hint) / 2}, words,
            {text_size::hint, ui.theme.text2});
}

std::filesystem::path proposed_folder(const std::string& last_file,
                                      const std::string& last_folder) {
    std::filesystem::path folder = last_file.empty()
                                       ? std::filesystem::path(last_folder)
                                       : std::filesystem::path(last_file).parent_path();
    std::error_code ignored;
    return folder.empty() ? std::filesystem::current_path(ignored) : folder;
}

CardAnswer save_buttons(DrawContext& ui, const SaveButtons& buttons) {
    ImGui::SetCursorPosX(ImGui::GetCursorPosX() + ImGui::GetContentRegionAvail().x - ui.px(208));
    CardAnswer answer = CardAnswer::none;
    if (button(ui, {.name = "Cancel##cancel",
                    .kind = ButtonKind::ghost,
                    .tip = "Closes this card; nothing is written.",
                    .width = 96,
                    .height = 32}))
        answer = CardAnswer::cancel;
    ImGui::SameLine();
    if (button(ui, {.name = "Save##save",
                    .kind = ButtonKind::primary,
                    .why_not = buttons.why_not,
                    .tip = buttons.tip,
                    .width = 104,
                    .height = 32}) ||
        (buttons.is_submitted && buttons.why_not.empty()))
        answer = CardAnswer::save;
    return answer;
}

void draw_problem(DrawContext& ui, const std::string& words) {
    text_wrapped(ui, words, text_size::hint, ui.theme.error);
    ui.recorder.item("hint", ui.recorder.claim("Problem##problem"), words);
}

void draw_card_foot(DrawContext& ui, std::string_view words) {
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float width = ImGui::GetContentRegionAvail().x;
    ImGui::GetWindowDrawList()->AddRectFilled(at, {at.x + width, at.y + 1}, ui.theme.line);
    text_at(ui, {at.x + ui.px(10), at.y + ui.px(10)}, words, {text_size::hint, ui.theme.text3});
    ImGui::Dummy({width, ui.px(30)});
}

}  // namespace aft::app
