// The pictures that `shot` takes. Private to app/host.
#pragma once
#include <span>

#include "viz/theme.h"

namespace aft::app {

// What must be open: nothing, a run that became NaN, a run trained for the pictures, or the model
// asked for (without one, the trained run). The list stands in this order.
enum class ShotStock { none, broken, fresh, model };

struct Shot {
    const char* name;  // of the file
    const char* workspace;
    const char* script;  // lines after the workspace is shown
    ThemeName theme = ThemeName::dark;
    float scale = 1;
    int width = 1600, height = 1000;
    ShotStock needs = ShotStock::model;
    const char* after = "";  // script lines that put things back for the next picture
};

inline constexpr const char* kCompleteShot = "key Ctrl+Enter\nframes 60\n";

[[nodiscard]] std::span<const Shot> all_shots();

}  // namespace aft::app
