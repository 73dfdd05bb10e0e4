// Fields: numbers that are dragged or typed, and sliders. Conventions: buttons.h. Window thread,
// inside a frame.
#pragma once
#include <limits>
#include <string>

#include "app/state/draw_context.h"

namespace aft::app {

struct NumberField {
    WidgetName name;
    double min = -std::numeric_limits<double>::infinity();
    double max = std::numeric_limits<double>::infinity();
    // Differs from it: accent bar; slider tick.
    double standard = std::numeric_limits<double>::quiet_NaN();
    bool integer = false, logarithmic = false;
    int decimals = -1;     // -1: as many as needed
    std::string unit{};    // in text 3 behind the value
    std::string prefix{};  // name inside, left ("low")
    std::string at_min{};  // words in place of `min`, which may be typed, too ("the same")
    std::string why_not{}, tip{}, formula{};
    bool locked = false;  // lock icon, fixed value
    float width = 0;
    float drag_speed = 0;     // value per pixel; 0 = from the range
    bool on_release = false;  // report a drag once, at its end (settings of a running training)
};
bool drag_field(DrawContext& ui, const NumberField& spec, double& value);
bool drag_field(DrawContext& ui, const NumberField& spec, int64_t& value);
// Slider and its field, side by side.
bool slider(DrawContext& ui, const NumberField& spec, double& value);
bool slider(DrawContext& ui, const NumberField& spec, int64_t& value);

}  // namespace aft::app
