#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/text.h"
#include "viz/curves.h"
#include "viz/numbers.h"
#include "viz/text.h"

namespace aft::viz {

// At most six characters: what fits to the left of the bars.
static std::string axis_number(double v) {
    if (v >= 1e5 || (v > 0 && v < 0.01)) return scientific(v, 1);
    return v >= 1000 ? group_thousands(std::llround(v)) : fmt::format("{:.3g}", v);
}

static float widest_name(const BarPlot& plot, const Look& look) {
    const auto count = static_cast<int>(plot.values.size());
    const TextStyle style{.size = 14};
    if (!plot.name) return text_extent(look, std::to_string(count - 1), style).x;
    float widest = 0;
    for (int i = 0; i < count; ++i)
        widest = std::max(widest, text_extent(look, plot.name(i), style).x);
    return widest;
}

BarReply draw_bars(const BarPlot& plot, const Look& look) {
    const ImVec2 at = ImGui::GetCursorScreenPos();
    ImGui::InvisibleButton(plot.id, plot.size);
    const auto count = static_cast<int>(plot.values.size());
    BarReply reply;
    if (count == 0) return reply;
    if (look.numbers != nullptr)
        look.numbers->add(
            plot.id,
            {.name = {}, .shape = {count}, .values = {plot.values.begin(), plot.values.end()}});
    double top = plot.top;
    for (const double v : plot.values)
        if (plot.top <= 0 && std::isfinite(v)) top = std::max(top, v);
    const float left = look.px(44), foot = look.px(18);
    const Box box = {{at.x + left, at.y + look.px(8)},
                     {at.x + plot.size.x, at.y + plot.size.y - foot}};
    reply.plot = box;
    ImDrawList* const list = ImGui::GetWindowDrawList();
    const TextStyle axis{.size = 14, .color = look.theme.text3, .align = Align::right};
    int decimals = 0;  // of percent: until half of the top is what its number says
    while (decimals < 3 && std::abs(std::remainder(50 * top, std::pow(10, -decimals))) > top / 2)
        ++decimals;
    for (const double share : {0.0, 0.5, 1.0}) {
        const float y = std::round(box.high.y - box.height() * float(share));
        list->AddLine({box.low.x, y}, {box.high.x, y}, look.theme.line);
        const double v = share * top;
        text_at(look, {box.low.x - look.px(6), y - look.px(8)},
                plot.percent ? plain_number(v * 100, v > 0 ? decimals : 0) + " %" : axis_number(v),
                axis);
    }
    const float pitch = box.width() / float(count), zero = std::round(box.high.y);
    const auto name = [&](int i) { return plot.name ? plot.name(i) : std::to_string(i); };
    const float number = widest_name(plot, look);
    const int step = std::max(1, static_cast<int>(std::ceil((number + look.px(10)) / pitch)));
    const bool is_over = ImGui::IsItemHovered();
    float taken = 0;  // by the names so far
    for (int i = 0; i < count; ++i) {
        const double v = plot.values[size_t(i)];
        const float middle = box.low.x + pitch * (float(i) + 0.5F);
        const float half = std::min(pitch / 2 - std::min(2.0F, pitch / 6), look.px(14));
        const float low = middle - half, high = middle + half;
        const bool is_known = top > 0 && std::isfinite(v);
        float tall = is_known ? std::round(float(v / top) * box.height()) : 0;
        if (is_known && i == plot.highlighted) tall = std::max(tall, look.px(2));  // always seen
        const ImU32 color = i == plot.highlighted ? look.theme.accent : look.theme.text3;
        if (tall > 0)  // of low bars, rounding would leave specks
            list->AddRectFilled({low, zero - tall}, {high, zero},
                                with_alpha(color, plot.dimmed ? 0.55F : 1.0F),
                                tall < look.px(2) ? 0 : look.px(1));
        const ImVec2 mouse = ImGui::GetIO().MousePos;
        if (is_over && std::abs(mouse.x - middle) < pitch / 2) reply.hovered = i;
        const float at_name = std::min(middle, box.high.x - number / 2);  // the last one inside
        if (i % step != 0 || at_name - number / 2 < taken) continue;
        taken = at_name + number / 2 + look.px(4);
        text_at(look, {at_name, box.high.y + look.px(3)}, name(i),
                {.size = 14, .color = look.theme.text3, .align = Align::centre});
    }
    if (ImGui::IsItemClicked()) reply.clicked = reply.hovered;
    return reply;
}

}  // namespace aft::viz
