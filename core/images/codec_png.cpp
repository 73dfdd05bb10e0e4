#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "core/check.h"
#include "core/images/codecs.h"
#include "core/outside.h"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
#pragma GCC diagnostic ignored "-Wsign-compare"
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wunused-but-set-variable"
#define STB_IMAGE_IMPLEMENTATION
#define STB_IMAGE_STATIC
#define STBI_ONLY_PNG
#define STBI_ONLY_BMP
#define STBI_NO_STDIO
#define STBI_MAX_DIMENSIONS 16384
#include <stb/stb_image.h>
#define STB_IMAGE_WRITE_IMPLEMENTATION
#define STB_IMAGE_WRITE_STATIC
#define STBI_WRITE_NO_STDIO
#include <stb/stb_image_write.h>
#pragma GCC diagnostic pop

namespace aft {
namespace {

const stbi_uc* stb_bytes(std::string_view bytes) {
    return reinterpret_cast<const stbi_uc*>(bytes.data());
}

int64_t little_endian(std::string_view bytes, size_t at, size_t count = 4) {
    uint32_t value = 0;
    for (size_t i = 0; i < count && at + i < bytes.size(); ++i)
        value |= uint32_t{static_cast<uint8_t>(bytes[at + i])} << (8 * i);
    return static_cast<int32_t>(value);
}

constexpr int64_t kOs2Header = 12;  // the oldest BMP header: sizes of 16 bits, no compression

// stb reads missing bytes of a BMP as zero; a short file must be an error.
void check_bmp_length(std::string_view bytes, int64_t width, int64_t height) {
    const auto size = static_cast<int64_t>(bytes.size());
    int64_t needed = little_endian(bytes, 2);
    const bool is_os2 = little_endian(bytes, 14) == kOs2Header;
    const bool is_plain = is_os2 || (little_endian(bytes, 14) >= 40 && bytes.size() > 30 &&
                                     little_endian(bytes, 30) == 0);
    if (is_plain) {
        const int64_t bits = little_endian(bytes, is_os2 ? 24 : 28, 2);
        const int64_t row = (width * bits + 31) / 32 * 4;
        needed = std::max(needed, little_endian(bytes, 10) + row * height);
    }
    AFT_CHECK(needed <= size, "truncated BMP: {} bytes, {} expected", size, needed);
}

int64_t big_endian(std::string_view bytes, size_t at) {
    int64_t value = 0;
    for (size_t i = 0; i < 4; ++i) value = value << 8 | static_cast<uint8_t>(bytes[at + i]);
    return value;
}

// stb takes memory for a chunk as long as its header says; none is longer than the file. And it
// calls a picture that is too large, or whose header is not the first chunk, one of an unknown
// type. (CgBI comes before the header in the PNGs of a telephone.)
void check_png_chunks(std::string_view bytes) {
    constexpr size_t kSignature = 8, kAround = 12;  // length and name before, checksum behind
    if (bytes.size() < kSignature + kAround) return;
    for (size_t at = kSignature; at + kAround <= bytes.size();) {
        const auto size = static_cast<size_t>(big_endian(bytes, at)), left = bytes.size() - at;
        AFT_CHECK(size <= left - kAround, "truncated PNG: a chunk of {} bytes at byte {}, {} left",
                  size, at, left - kAround);
        if (bytes.substr(at + 4, 4) == "IHDR" && size >= 8)
            check_image_size(big_endian(bytes, at + 8), big_endian(bytes, at + 12));
        at += size + kAround;
    }
    const std::string_view first = bytes.substr(kSignature + 4, 4);
    AFT_CHECK(first == "IHDR" || first == "CgBI",
              "broken PNG: its first chunk is '{}', expected IHDR", shown(first));
}

// Before stb is asked, as above. What is too short for a header is left to it.
void check_bmp_size(std::string_view bytes) {
    constexpr size_t kHead = 26;
    if (bytes.size() < kHead) return;
    if (little_endian(bytes, 14) == kOs2Header)
        check_image_size(little_endian(bytes, 18, 2), little_endian(bytes, 20, 2));
    else if (little_endian(bytes, 14) >= 40)
        check_image_size(little_endian(bytes, 18), std::abs(little_endian(bytes, 22)));
}

struct FreePixels {
    void operator()(stbi_uc* pixels) const { stbi_image_free(pixels); }
};

// Header fields of a PNM file: numbers between blanks and comments.
int64_t pnm_number(std::string_view bytes, size_t& at) {
    while (at < bytes.size() && (std::strchr(" \t\r\n", bytes[at]) || bytes[at] == '#')) {
        if (bytes[at] == '#')
            while (at < bytes.size() && bytes[at] != '\n') ++at;
        else
            ++at;
    }
    int64_t value = 0;
    const size_t first = at;
    for (; at < bytes.size() && bytes[at] >= '0' && bytes[at] <= '9' && at < first + 9; ++at)
        value = value * 10 + (bytes[at] - '0');
    AFT_CHECK(at > first, "broken PNM header: a number is expected at byte {}", first);
    return value;
}

}  // namespace

void check_image_size(int64_t width, int64_t height) {
    AFT_CHECK(width >= 1 && height >= 1, "the picture is empty ({} x {})", width, height);
    AFT_CHECK(width <= kMaxSide && height <= kMaxSide && width * height <= kMaxPixels,
              "the picture is {} x {} pixels; allowed: {} a side and 64 megapixels", width, height,
              kMaxSide);
}

Image decode_png_or_bmp(std::string_view bytes) {
    if (bytes.starts_with("\x89PNG")) check_png_chunks(bytes);
    if (bytes.starts_with("BM")) check_bmp_size(bytes);
    int width = 0, height = 0, stored = 0;
    const auto length = static_cast<int>(bytes.size());
    const bool known = stbi_info_from_memory(stb_bytes(bytes), length, &width, &height, &stored);
    AFT_CHECK(known, "broken picture: {}", shown(stbi_failure_reason()));
    check_image_size(width, height);
    if (bytes.substr(0, 2) == "BM") check_bmp_length(bytes, width, height);
    const int channels = stored <= 2 ? 1 : 3;
    const std::unique_ptr<stbi_uc, FreePixels> pixels(
        stbi_load_from_memory(stb_bytes(bytes), length, &width, &height, &stored, channels));
    AFT_CHECK(pixels, "broken picture: {}", shown(stbi_failure_reason()));
    Image image{width, height, channels, {}};
    image.pixels.assign(pixels.get(), pixels.get() + image.width * image.height * channels);
    return image;
}

Image decode_pnm(std::string_view bytes) {
    const int64_t channels = bytes[1] == '6' ? 3 : 1;
    size_t at = 2;
    const int64_t width = pnm_number(bytes, at), height = pnm_number(bytes, at);
    const int64_t top = pnm_number(bytes, at);
    check_image_size(width, height);
    AFT_CHECK(top >= 1 && top <= 255, "PNM with a largest value of {}; allowed: 1 to 255", top);
    ++at;  // the one blank after the header
    const int64_t needed = width * height * channels;
    const auto found = static_cast<int64_t>(bytes.size()) - static_cast<int64_t>(at);
    AFT_CHECK(found >= needed, "truncated PNM: {} bytes of pixels, {} expected", found, needed);
    Image image{width, height, channels, {}};
    image.pixels.resize(static_cast<size_t>(needed));
    for (size_t i = 0; i < image.pixels.size(); ++i) {
        const int64_t value = static_cast<uint8_t>(bytes[at + i]);
        image.pixels[i] = static_cast<uint8_t>((std::min(value, top) * 255 + top / 2) / top);
    }
    return image;
}

std::string encode_png(const Image& image) {
    std::string out;
    const auto append = [](void* context, void* data, int size) {
        static_cast<std::string*>(context)->append(static_cast<const char*>(data),
                                                   static_cast<size_t>(size));
    };
    const auto width = static_cast<int>(image.width), channels = static_cast<int>(image.channels);
    const int done = stbi_write_png_to_func(append, &out, width, static_cast<int>(image.height),
                                            channels, image.pixels.data(), width * channels);
    AFT_CHECK(done, "out of memory while compressing a picture of {} x {}", image.width,
              image.height);
    return out;
}

}  // namespace aft
