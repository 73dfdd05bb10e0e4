// The bar that explains a map's colours: 12 high, histogram above it, ticks and numbers below,
// ends that can be dragged. And its small form at the end of an atlas row. Window thread.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/images/colormap.h"
#include "viz/look.h"

namespace aft::viz {

struct ColorBarView {
    const char* id = "bar";
    Coloring coloring{};
    float width = 200;
    std::span<const float> histogram{};  // counts, from aft::histogram; empty = none
    float histogram_height = 28;         // at scale 1
    ClippedShare clipped{};              // in a line above the histogram: "0.1 % above"
    std::optional<double> marker{};      // hovered value: a triangle
    bool low_locked = false, high_locked = false, can_drag = true;
    bool percent = false;    // numbers times 100 with a % sign
    std::string low_note{};  // behind the low number: "floor"
};

struct ColorBarReply {
    Range range;                      // after dragging
    bool changed = false;             // in this frame
    bool reset = false;               // double click on an end: back to the automatic range
    std::optional<double> hovered{};  // value under the pointer
    Box bar;
};

[[nodiscard]] ColorBarReply draw_color_bar(const ColorBarView& view, const Look& look);
[[nodiscard]] float color_bar_height(const ColorBarView& view, const Look& look);

// 104 x 8 with low, 0 and high under it.
void draw_small_bar(const Look& look, ImVec2 at, const Coloring& coloring, bool percent = false);

// Round numbers inside the range whose places on the bar are at least `gap` (0 .. 1) apart, with
// both ends and 0 first.
[[nodiscard]] std::vector<double> bar_ticks(const Coloring& coloring, double gap);
// `beside`: the ends of its bar, whose notation it takes: "0.0005" beside "0.002".
[[nodiscard]] std::string bar_number(double value, bool percent, const Range& beside = {0, 0});

}  // namespace aft::viz
