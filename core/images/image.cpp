#include "core/images/image.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "core/caught.h"
#include "core/check.h"
#include "core/files.h"
#include "core/images/codecs.h"

namespace aft {
namespace {

enum class ImageFormat { png, bmp, jpeg, pnm, unknown };

ImageFormat format_of(std::string_view bytes) {
    if (bytes.starts_with("\x89PNG\r\n\x1a\n")) return ImageFormat::png;
    if (bytes.starts_with("\xff\xd8\xff")) return ImageFormat::jpeg;
    if (bytes.starts_with("BM")) return ImageFormat::bmp;
    if (bytes.starts_with("P5") || bytes.starts_with("P6")) return ImageFormat::pnm;
    return ImageFormat::unknown;
}

void check_pixels(const Image& image) {
    AFT_CHECK(image.channels == 1 || image.channels == 3 || image.channels == 4,
              "a picture of {} channels; allowed: 1, 3, 4", image.channels);
    check_image_size(image.width, image.height);
    AFT_ASSERT(static_cast<int64_t>(image.pixels.size()) ==
               image.width * image.height * image.channels);
}

// The source pixels under one target pixel along an axis. In units of 1/target of a source pixel
// every overlap is a whole number, so that averages are exact.
struct PixelSpan {
    int64_t first = 0;
    std::vector<int64_t> weights;  // they add up to `source`
};

std::vector<PixelSpan> area_spans(int64_t source, int64_t target) {
    std::vector<PixelSpan> spans(static_cast<size_t>(target));
    for (int64_t i = 0; i < target; ++i) {
        const int64_t low = i * source, high = low + source;
        PixelSpan& span = spans[static_cast<size_t>(i)];
        span.first = low / target;
        for (int64_t j = span.first; j * target < high; ++j)
            span.weights.push_back(std::min(high, (j + 1) * target) - std::max(low, j * target));
    }
    return spans;
}

struct SourceRow {
    const uint8_t* pixels;
    int64_t channels, weight;
};

// Adds weight * (row averaged along x, times source width) to sums [width, channels].
void add_row(const SourceRow& row, const std::vector<PixelSpan>& columns,
             std::vector<int64_t>& sums) {
    const auto channels = static_cast<size_t>(row.channels);
    for (size_t x = 0; x < columns.size(); ++x) {
        const uint8_t* at = row.pixels + columns[x].first * row.channels;
        for (int64_t part : columns[x].weights)
            for (size_t c = 0; c < channels; ++c)
                sums[x * channels + c] += row.weight * part * *at++;
    }
}

}  // namespace

Image decode_image(std::string_view bytes) {
    switch (format_of(bytes)) {
        case ImageFormat::png:
        case ImageFormat::bmp:
            return decode_png_or_bmp(bytes);
        case ImageFormat::jpeg:
            return decode_jpeg(bytes);
        case ImageFormat::pnm:
            return decode_pnm(bytes);
        case ImageFormat::unknown:
            break;
    }
    fail("not a PNG, JPEG, BMP or PNM picture ({} bytes)", bytes.size());
}

Image read_image(const std::filesystem::path& path) {
    const std::string bytes = read_file(path, kMaxImageBytes);
    return with_error([&] { return decode_image(bytes); },
                      [&](const Error& error) {
                          return Error(fmt::format("cannot read the picture '{}': {}",
                                                   path.string(), error.what()));
                      });
}

bool is_image_file(const std::filesystem::path& path) {
    std::string extension = path.extension().string();
    std::transform(extension.begin(), extension.end(), extension.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    constexpr std::array known = {".png", ".jpg", ".jpeg", ".bmp", ".pgm", ".ppm", ".pnm"};
    return std::find(known.begin(), known.end(), extension) != known.end();
}

void write_png(const std::filesystem::path& path, const Image& image) {
    check_pixels(image);
    write_atomically(path, encode_png(image));
}

Image to_grey(const Image& image) {
    check_pixels(image);
    if (image.channels == 1) return image;
    Image grey{image.width, image.height, 1, {}};
    grey.pixels.resize(static_cast<size_t>(image.width * image.height));
    const uint8_t* in = image.pixels.data();
    for (uint8_t& out : grey.pixels) {
        out = static_cast<uint8_t>((299 * in[0] + 587 * in[1] + 114 * in[2] + 500) / 1000);
        in += image.channels;
    }
    return grey;
}

Image to_rgb(const Image& image) {
    check_pixels(image);
    if (image.channels == 3) return image;
    Image rgb{image.width, image.height, 3, {}};
    rgb.pixels.reserve(static_cast<size_t>(image.width * image.height * 3));
    const int64_t second = image.channels == 1 ? 0 : 1, third = image.channels == 1 ? 0 : 2;
    for (const uint8_t* in = image.pixels.data(); in < image.pixels.data() + image.pixels.size();
         in += image.channels)
        rgb.pixels.insert(rgb.pixels.end(), {in[0], in[second], in[third]});
    return rgb;
}

Image crop_to_aspect(const Image& image, int64_t width, int64_t height) {
    check_pixels(image);
    AFT_ASSERT(width >= 1 && height >= 1);
    // The largest rectangle of this shape: whole pixels, at least one.
    int64_t w = image.width, h = image.height;
    if (w * height > h * width)
        w = std::max<int64_t>(1, h * width / height);
    else
        h = std::max<int64_t>(1, w * height / width);
    if (w == image.width && h == image.height) return image;
    const int64_t x0 = (image.width - w) / 2, y0 = (image.height - h) / 2;
    Image out{w, h, image.channels, {}};
    out.pixels.reserve(static_cast<size_t>(w * h * image.channels));
    for (int64_t y = 0; y < h; ++y) {
        const auto row = image.pixels.begin() + ((y0 + y) * image.width + x0) * image.channels;
        out.pixels.insert(out.pixels.end(), row, row + w * image.channels);
    }
    return out;
}

Image resize_area(const Image& image, int64_t width, int64_t height) {
    check_pixels(image);
    check_image_size(width, height);
    if (width == image.width && height == image.height) return image;
    const std::vector<PixelSpan> columns = area_spans(image.width, width);
    const std::vector<PixelSpan> rows = area_spans(image.height, height);
    const int64_t area = image.width * image.height;
    Image out{width, height, image.channels, {}};
    out.pixels.reserve(static_cast<size_t>(width * height * image.channels));
    std::vector<int64_t> sums(static_cast<size_t>(width * image.channels));
    for (const PixelSpan& span : rows) {
        std::fill(sums.begin(), sums.end(), 0);
        const uint8_t* row = image.pixels.data() + span.first * image.width * image.channels;
        for (int64_t weight : span.weights) {
            add_row({row, image.channels, weight}, columns, sums);
            row += image.width * image.channels;
        }
        for (int64_t sum : sums)
            out.pixels.push_back(static_cast<uint8_t>((2 * sum + area) / (2 * area)));
    }
    return out;
}

}  // namespace aft
