#include "viz/color_bar.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "core/text.h"
#include "viz/text.h"

namespace aft::viz {
namespace {

// The bar runs evenly in colour position, from the position of low to that of high.
struct BarScale {
    Coloring coloring;
    double first, width;
    explicit BarScale(const Coloring& c)
        : coloring(c),
          first(scale_position(c.range.low, c.range, c.scale)),
          width(std::max(1e-9, scale_position(c.range.high, c.range, c.scale) - first)) {}
    [[nodiscard]] double place(double value) const {  // 0 .. 1
        return (scale_position(value, coloring.range, coloring.scale) - first) / width;
    }
    [[nodiscard]] double value(double place) const {
        return scale_value(first + place * width, coloring.range, coloring.scale);
    }
};

void draw_gradient(const Box& box, const Coloring& coloring) {
    const BarScale bar(coloring);
    const auto& table = colormap_table(coloring.map);
    const auto color = [&](double place) {
        const double at = std::clamp(bar.first + place * bar.width, 0.0, 1.0) * 255;
        const Rgb c = table[static_cast<size_t>(std::lround(at))];
        return IM_COL32(c[0], c[1], c[2], 255);
    };
    constexpr int kSteps = 48;
    for (int i = 0; i < kSteps; ++i) {
        const auto x = [&](int k) { return box.low.x + box.width() * float(k) / float(kSteps); };
        const ImU32 left = color(double(i) / kSteps), right = color(double(i + 1) / kSteps);
        ImGui::GetWindowDrawList()->AddRectFilledMultiColor(
            {x(i), box.low.y}, {x(i + 1), box.high.y}, left, right, right, left);
    }
}

void draw_histogram(const ColorBarView& view, const Box& box, const Look& look) {
    if (view.histogram.empty()) return;
    const float top = *std::max_element(view.histogram.begin(), view.histogram.end());
    if (!(top > 0)) return;
    const float pitch = box.width() / float(view.histogram.size());
    const ImU32 color = with_alpha(look.theme.text3, 0.55F);
    for (size_t i = 0; i < view.histogram.size(); ++i) {
        const float height = std::sqrt(view.histogram[i] / top) * box.height();
        if (height < 0.5F) continue;
        const float left = std::round(box.low.x + pitch * float(i));
        const float right = std::max(
            left + 1, std::round(box.low.x + pitch * float(i + 1)) - (pitch > 3 ? 1.0F : 0.0F));
        ImGui::GetWindowDrawList()->AddRectFilled({left, box.high.y - std::round(height)},
                                                  {right, box.high.y}, color);
    }
}

constexpr float kNote = 18;  // the line of the clipped shares, above a histogram
constexpr float kLock = 12;  // width of a lock and its gap, beside the number of a locked end

struct TickText {
    double value = 0;
    float x = 0, low = 0, high = 0;  // pixels; low and high of text and lock, with a gap
    std::string text{};
    TextStyle style{};
};

struct TickPlace {
    const ColorBarView& view;
    const Box& box;
    const Look& look;
};

TickText tick_text(double value, const TickPlace& place_of, bool has_note) {
    const auto& [view, box, look] = place_of;
    const double place = std::clamp(BarScale(view.coloring).place(value), 0.0, 1.0);
    TickText tick{.value = value, .x = box.low.x + float(place) * box.width()};
    tick.style = {.size = 14, .color = look.theme.text3};
    tick.style.align = place < 0.02 ? Align::left : place > 0.98 ? Align::right : Align::centre;
    tick.text = bar_number(value, view.percent, view.coloring.range);
    if (place < 0.02 && has_note) tick.text += " " + view.low_note;
    const float width = text_extent(look, tick.text, tick.style).x;
    const float low_lock = value == view.coloring.range.low && view.low_locked ? look.px(kLock) : 0;
    const float high_lock =
        value == view.coloring.range.high && view.high_locked ? look.px(kLock) : 0;
    tick.x += low_lock - high_lock;
    const float left = tick.style.align == Align::left    ? tick.x
                       : tick.style.align == Align::right ? tick.x - width
                                                          : tick.x - width / 2;
    tick.low = left - low_lock - look.px(4);
    tick.high = left + width + high_lock + look.px(4);
    return tick;
}

// Those that lie on no other. The ends and 0 first; then the smallest, a value and its negative
// both or neither.
std::vector<TickText> free_ticks(const ColorBarView& view, const Box& box, const Look& look) {
    const Range range = view.coloring.range;
    const double gap = look.px(46) / std::max(1.0F, box.width());
    std::vector<TickText> left, taken;
    const auto is_free = [&](const TickText& tick) {
        return std::none_of(taken.begin(), taken.end(), [&](const TickText& t) {
            return tick.low < t.high && t.low < tick.high;
        });
    };
    const TickPlace place{view, box, look};
    const std::vector<double> all = bar_ticks(view.coloring, gap);
    const bool has_zero = std::find(all.begin(), all.end(), 0.0) != all.end();
    // The note at the low end never takes the place of 0.
    const bool has_note =
        !view.low_note.empty() &&
        !(has_zero && tick_text(range.low, place, true).high > tick_text(0, place, false).low);
    for (const double v : all)
        (v == range.low || v == range.high ? taken : left).push_back(tick_text(v, place, has_note));
    std::sort(left.begin(), left.end(), [](const TickText& a, const TickText& b) {
        return std::abs(a.value) < std::abs(b.value);
    });
    for (size_t i = 0; i < left.size(); ++i) {
        const bool is_pair = i + 1 < left.size() && left[i].value == -left[i + 1].value;
        bool fits = is_free(left[i]) && (!is_pair || is_free(left[i + 1]));
        if (!is_pair && range.low == -range.high && left[i].value != 0) fits = false;
        if (fits) taken.insert(taken.end(), left.begin() + i, left.begin() + i + (is_pair ? 2 : 1));
        if (is_pair) ++i;
    }
    return taken;
}

void draw_ticks(const ColorBarView& view, const Box& box, const Look& look) {
    for (const TickText& tick : free_ticks(view, box, look)) {
        const float x = std::round(tick.x);
        if (tick.style.align == Align::centre)
            ImGui::GetWindowDrawList()->AddLine({x, box.high.y}, {x, box.high.y + look.px(4)},
                                                look.theme.text3);
        text_at(look, {tick.x, box.high.y + look.px(4)}, tick.text, tick.style);
    }
}

void draw_clipped(const ColorBarView& view, const Box& box, const Look& look) {
    const auto note = [&](double share, const char* word, bool right) {
        if (share < 5e-4) return;
        const TextStyle style{
            .size = 14, .color = look.theme.text3, .align = right ? Align::right : Align::left};
        const float histogram = view.histogram.empty() ? 0 : view.histogram_height + 2;
        text_at(look, {right ? box.high.x : box.low.x, box.low.y - look.px(histogram + kNote)},
                plain_number(share * 100, 1) + " % " + word, style);
    };
    note(view.clipped.above, "above", true);
    note(view.clipped.below, "below", false);
}

void draw_lock(ImVec2 at, const Look& look) {  // `at`: middle of the bottom edge
    ImDrawList* const list = ImGui::GetWindowDrawList();
    const ImU32 color = look.theme.text3;
    const float w = look.px(3.5F), h = look.px(5), r = look.px(2.2F), leg = look.px(2);
    list->AddRectFilled({at.x - w, at.y - h}, {at.x + w, at.y}, color, look.px(1));
    list->PathLineTo({at.x - r, at.y - h});
    list->PathArcTo({at.x, at.y - h - leg}, r, 3.14159F, 6.28318F);
    list->PathLineTo({at.x + r, at.y - h});
    list->PathStroke(color, 0, look.px(1.2F));
}

void draw_handle(float x, const Box& bar, bool locked, const Look& look) {
    const float w = look.px(3), out = look.px(3);
    const Box box = {{x - w, bar.low.y - out}, {x + w, bar.high.y + out}};
    ImDrawList* const list = ImGui::GetWindowDrawList();
    list->AddRectFilled(box.low, box.high, locked ? look.theme.text3 : look.theme.text1,
                        look.px(2));
    list->AddRectFilled({x - look.px(1), bar.low.y + look.px(1)},
                        {x + look.px(1), bar.high.y - look.px(1)}, look.theme.pane);
}

// In the row of the numbers, where neither the histogram nor the marker stands.
void draw_locks(const ColorBarView& view, const Box& bar, const Look& look) {
    const float y = std::round(bar.high.y) + look.px(16), half = look.px(4);
    if (view.low_locked) draw_lock({std::round(bar.low.x) + half, y}, look);
    if (view.high_locked) draw_lock({std::round(bar.high.x) - half, y}, look);
}

// One end of the range: an invisible handle, 12 wide; drags in equal steps of the colour place.
void drag_end(const ColorBarView& view, const Box& bar, bool is_high, ColorBarReply& reply) {
    const float x = is_high ? bar.high.x : bar.low.x, w = bar.height() * 0.75F;
    ImGui::SetCursorScreenPos({x - w, bar.low.y - 4});
    ImGui::InvisibleButton(is_high ? "high" : "low", {2 * w, bar.height() + 8});
    if (ImGui::IsItemHovered() || ImGui::IsItemActive())
        ImGui::SetMouseCursor(ImGuiMouseCursor_ResizeEW);
    reply.reset |= ImGui::IsItemHovered() && ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left);
    const float move = ImGui::GetIO().MouseDelta.x;
    if (!ImGui::IsItemActive() || move == 0) return;
    const double share = double(move) / bar.width();
    double& end = is_high ? reply.range.high : reply.range.low;
    const double width = view.coloring.range.high - view.coloring.range.low;
    const double other = is_high ? reply.range.low : reply.range.high;
    // Multiplied when the end has a sign of its own, so that small and large ranges feel alike.
    const double moved = (end > 0) == is_high && end != 0
                             ? end * std::exp(is_high ? 2 * share : -2 * share)
                             : end + share * width;
    end = is_high ? std::max(moved, other + 1e-6) : std::min(moved, other - 1e-6);
    reply.changed = true;
}

}  // namespace

std::string bar_number(double value, bool percent, const Range& beside) {
    const double factor = percent ? 100 : 1;
    const double shown = factor * value;
    const double size = std::abs(shown);
    const bool is_tiny =
        std::max({size, factor * std::abs(beside.low), factor * std::abs(beside.high)}) < 0.001;
    std::string text;
    const auto short_form = [&](double unit, const char* word) {
        const double v = shown / unit;
        return plain_number(v, std::abs(v) >= 100 ? 0 : 1) + word;
    };
    if (size >= 1e4 && size < 1e9) {
        text = size >= 1e6 ? short_form(1e6, "M") : short_form(1e3, "k");
    } else if (size != 0 && (is_tiny || size < 1e-5 || size >= 1e9)) {
        text = scientific(shown, 1);
    } else {  // at least two digits
        const int small = size > 0 ? 1 - static_cast<int>(std::floor(std::log10(size))) : 0;
        text = plain_number(shown, size >= 100 ? 0 : size >= 10 ? 1 : size >= 0.1 ? 2 : small);
        if (text.find('.') != std::string::npos) {
            while (text.back() == '0') text.pop_back();
            if (text.back() == '.') text.pop_back();
        }
    }
    return percent ? text + " %" : text;
}

std::vector<double> bar_ticks(const Coloring& coloring, double gap) {
    const BarScale bar(coloring);
    std::vector<double> ticks = {coloring.range.low, coloring.range.high};
    const auto add = [&](double value, double least) {
        if (value <= coloring.range.low || value >= coloring.range.high) return;
        const double place = bar.place(value);
        for (const double t : ticks)
            if (std::abs(bar.place(t) - place) < least) return;
        ticks.push_back(value);
    };
    // Its sign is what such a bar shows first, and it is narrow.
    if (is_signed_scale(coloring.scale)) add(0, gap / 2);
    const double top = std::max(std::abs(coloring.range.low), std::abs(coloring.range.high));
    if (top > 0 && std::isfinite(top)) {
        const double decade = std::pow(10, std::floor(std::log10(top)));
        // The roundest numbers first; finer ones only where there is space left.
        for (const double unit : {decade, decade / 2, decade / 4, decade / 10, decade / 20})
            for (int k = 1; k <= 20 && unit * k <= top; ++k) {
                add(unit * k, gap);
                add(-unit * k, gap);
            }
    }
    std::sort(ticks.begin(), ticks.end());
    return ticks;
}

// Of what stands above the bar, in pixels.
static float height_above(const ColorBarView& view, const Look& look) {
    return look.px(view.histogram.empty() ? 4 : kNote + view.histogram_height + 2);
}

float color_bar_height(const ColorBarView& view, const Look& look) {
    return height_above(view, look) + look.px(12 + 4 + 16);
}

ColorBarReply draw_color_bar(const ColorBarView& view, const Look& look) {
    ColorBarReply reply;
    reply.range = view.coloring.range;
    const ImVec2 corner = ImGui::GetCursorScreenPos();
    const float above = height_above(view, look);
    reply.bar = {{corner.x, corner.y + above},
                 {corner.x + view.width, corner.y + above + look.px(12)}};
    ImGui::PushID(view.id);
    if (view.can_drag && !view.low_locked) drag_end(view, reply.bar, false, reply);
    if (view.can_drag && !view.high_locked) drag_end(view, reply.bar, true, reply);
    ImGui::SetCursorScreenPos(corner);
    ImGui::Dummy({view.width, color_bar_height(view, look)});
    const ImVec2 mouse = ImGui::GetIO().MousePos;
    if (ImGui::IsItemHovered() && reply.bar.contains(mouse))
        reply.hovered =
            BarScale(view.coloring).value((mouse.x - reply.bar.low.x) / reply.bar.width());
    ImGui::PopID();

    const Box above_bar = {{corner.x, reply.bar.low.y - look.px(view.histogram_height + 2)},
                           {corner.x + view.width, reply.bar.low.y - look.px(2)}};
    draw_histogram(view, above_bar, look);
    draw_gradient(reply.bar, view.coloring);
    draw_ticks(view, reply.bar, look);
    draw_locks(view, reply.bar, look);
    draw_clipped(view, reply.bar, look);
    draw_handle(reply.bar.low.x, reply.bar, view.low_locked || !view.can_drag, look);
    draw_handle(reply.bar.high.x, reply.bar, view.high_locked || !view.can_drag, look);
    if (view.marker.has_value() && std::isfinite(*view.marker)) {
        const double place = std::clamp(BarScale(view.coloring).place(*view.marker), 0.0, 1.0);
        const auto x = reply.bar.low.x + float(place) * view.width;
        const float y = reply.bar.low.y, s = look.px(5);
        ImGui::GetWindowDrawList()->AddTriangleFilled({x - s, y - s}, {x + s, y - s}, {x, y},
                                                      look.theme.text1);
    }
    return reply;
}

void draw_small_bar(const Look& look, ImVec2 at, const Coloring& coloring, bool percent) {
    const Box box = {at, {at.x + look.px(104), at.y + look.px(8)}};
    draw_gradient(box, coloring);
    const TextStyle style{.size = 14, .color = look.theme.text3};
    TextStyle right = style, centre = style;
    right.align = Align::right;
    centre.align = Align::centre;
    const float y = box.high.y + look.px(2);
    const std::string low = bar_number(coloring.range.low, percent, coloring.range);
    const std::string high = bar_number(coloring.range.high, percent, coloring.range);
    text_at(look, {box.low.x, y}, low, style);
    text_at(look, {box.high.x, y}, high, right);
    if (coloring.range.low >= 0 || coloring.range.high <= 0) return;
    const BarScale bar(coloring);
    const auto x = std::round(box.low.x + float(bar.place(0)) * box.width()) + 0.5F;
    ImGui::GetWindowDrawList()->AddLine({x, box.low.y}, {x, box.high.y}, look.theme.text2);
    const float half = text_extent(look, "0", centre).x / 2 + look.px(4);
    if (x - half > box.low.x + text_extent(look, low, style).x &&
        x + half < box.high.x - text_extent(look, high, right).x)
        text_at(look, {x, y}, "0", centre);
}

}  // namespace aft::viz
