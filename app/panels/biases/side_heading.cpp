#include "app/panels/biases/side_heading.h"

#include "app/widgets/text.h"

namespace aft::app {

void side_heading(DrawContext& ui, const WidgetName& title, std::string_view rest) {
    ui.recorder.set_section(title);
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float width = ImGui::GetContentRegionAvail().x;
    text_at(ui, at, title.words, {text_size::label, ui.theme.text1, Face::semibold, width});
    const float used = text_extent(ui, title.words, text_size::label, Face::semibold).x + ui.px(8);
    const float rest_width = text_extent(ui, rest, text_size::hint).x;
    const bool below = used + rest_width > width;
    text_at(ui, below ? ImVec2(at.x, at.y + ui.px(18)) : ImVec2(at.x + used, at.y + ui.px(1)), rest,
            {text_size::hint, ui.theme.text2, Face::regular, width});
    ImGui::Dummy({1, ui.px(below ? 36 : 20)});
}

void draw_awaited(const DrawContext& ui, const viz::Box& box, std::string_view words) {
    ImGui::GetWindowDrawList()->AddRectFilled(box.low, box.high, ui.theme.field);
    text_at(ui, {(box.low.x + box.high.x) / 2, (box.low.y + box.high.y) / 2 - ui.px(8)}, words,
            {text_size::hint, ui.theme.text3, Face::regular, box.width(), viz::Align::centre});
}

}  // namespace aft::app
