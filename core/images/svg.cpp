#include "core/images/svg.h"

#include <fmt/format.h>

#include "core/base64.h"
#include "core/images/codecs.h"

namespace aft {

std::string svg_number(double v) {
    std::string text = fmt::format("{:.2f}", v);
    while (text.back() == '0') text.pop_back();
    if (text.back() == '.') text.pop_back();
    return text == "-0" ? "0" : text;
}

std::string svg_color(uint32_t ink) {
    return fmt::format("#{:06X}", ink & 0xFFFFFFU);
}

std::string png_data_uri(const Image& image) {
    return "data:image/png;base64," + base64(encode_png(image));
}

}  // namespace aft
