// Pictures of every format, header and pixels.
#include "core/images/codecs.h"
#include "tests/fuzz/refused.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
    using namespace aft;
    const std::string_view text(reinterpret_cast<const char*>(bytes), size);
    Image image;
    if (!is_taken([&] { image = decode_image(text); })) return 0;
    const int64_t values = image.width * image.height * image.channels;
    require(image.width >= 1 && image.height >= 1 && image.width * image.height <= kMaxPixels,
            "a picture has a size within the limits", std::to_string(values));
    require(static_cast<int64_t>(image.pixels.size()) == values, "every pixel is there",
            std::to_string(image.pixels.size()));
    return 0;
}
