// Combo: drop-down lists, popups and the rows of lists. Conventions: buttons.h. Window thread,
// inside a frame.
#pragma once
#include <span>
#include <string>
#include <string_view>

#include "app/state/draw_context.h"

namespace aft::app {

struct ComboChoices {
    std::span<const std::string> list;  // "Shown words##id", as names are
    float width = 0;
    std::string why_not{};
    ImU32 ground = 0;  // 0 = the field colour
    std::string tip{};
};
bool combo(DrawContext& ui, const WidgetName& name, int& chosen, const ComboChoices& choices);
inline constexpr ImVec2 kListPadding{4, 4}, kPagePadding{12, 10};  // pixels at scale 1
// A popup with the right border and padding: `if (scope.is_open()) draw rows`. Open it with
// ImGui::OpenPopup(id).
class PopupScope {
  public:
    explicit PopupScope(DrawContext& ui, const char* id, ImVec2 padding = kListPadding);
    ~PopupScope();
    PopupScope(const PopupScope&) = delete;
    PopupScope& operator=(const PopupScope&) = delete;
    [[nodiscard]] bool is_open() const { return is_open_; }

  private:
    bool is_open_ = false;
};

// A full-width row that can be chosen (trees, lists, tables). Height at scale 1. The caller draws
// inside afterwards: the cursor stands at the row's top left, `row.min`, `row.max` are its corners.
struct Row {
    bool pressed = false, hovered = false, double_clicked = false;
    ImVec2 min, max;
};
struct RowLook {
    float height = 26;
    bool selected = false;
    std::string value{};  // recorded
};
Row row(DrawContext& ui, const WidgetName& name, const RowLook& look);

}  // namespace aft::app
