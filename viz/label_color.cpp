#include "viz/label_color.h"

namespace aft::viz {

ImU32 label_color(const Theme& theme, ImU32 color, ImU32 ground) {
    constexpr int kParts = 32;  // few enough that the colour stays that of its line
    ImU32 out = color;
    for (int i = 1; i <= kParts && contrast_ratio(out, ground) < kLeastContrast; ++i)
        out = mix(color, theme.text1, float(i) / kParts);
    return out;
}

}  // namespace aft::viz
