#include "viz/svg/svg_images.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/images/svg.h"

namespace aft::viz {
namespace {

constexpr float kTexelSlack = 0.01F;  // texels: rounding of texture coordinates

struct TexelRange {  // of one direction; end is exclusive
    int64_t begin = 0, end = 0;
};

// The texels that [low, high] touches, in any order of the two.
TexelRange texels_of(float low, float high, int64_t count) {
    if (low > high) std::swap(low, high);
    const auto begin = int64_t(std::floor(low * float(count) + kTexelSlack));
    const auto end = int64_t(std::ceil(high * float(count) - kTexelSlack));
    const int64_t first = std::clamp<int64_t>(begin, 0, count - 1);
    return {first, std::clamp<int64_t>(end, first + 1, count)};
}

struct TintedTexels {
    const Image& image;
    ImU32 color = 0;
};

// One texel, multiplied by the colour; the colour's alpha is left for the element.
void append_texel(Image& out, const TintedTexels& from, int64_t x, int64_t y) {
    const int64_t channels = from.image.channels;
    const uint8_t* const p = &from.image.pixels[size_t((y * from.image.width + x) * channels)];
    constexpr int kShifts[] = {IM_COL32_R_SHIFT, IM_COL32_G_SHIFT, IM_COL32_B_SHIFT};
    for (int c = 0; c < 3; ++c) {
        const unsigned by = from.color >> kShifts[c] & 0xFFU;
        out.pixels.push_back(uint8_t((p[channels == 1 ? 0 : c] * by + 127) / 255));
    }
    out.pixels.push_back(channels == 4 ? p[3] : uint8_t{255});
}

Image without_full_alpha(const Image& image) {
    for (size_t i = 3; i < image.pixels.size(); i += 4)
        if (image.pixels[i] != 255) return image;
    Image out{image.width, image.height, 3, {}};
    for (size_t i = 0; i < image.pixels.size(); i += 4)
        out.pixels.insert(out.pixels.end(), &image.pixels[i], &image.pixels[i] + 3);
    return out;
}

// A texel is written as so many pixels, about as on the screen: programs that smooth pictures
// although they are asked not to (librsvg, and what uses it) then leave cells as they are.
int64_t pixels_of_texel(float pixels, int64_t texels) {
    constexpr int64_t kMost = 2048;  // pixels of an enlarged picture in one direction
    const auto wanted = int64_t(std::ceil(std::min(pixels, float(kMost)) / float(texels) - 0.01F));
    return std::clamp<int64_t>(wanted, 1, std::max<int64_t>(1, kMost / texels));
}

std::string opacity_of(ImU32 color) {
    const ImU32 alpha = color >> IM_COL32_A_SHIFT & 0xFFU;
    return alpha == 255 ? std::string() : fmt::format(" opacity=\"{:.3g}\"", alpha / 255.0);
}

std::string image_element(const Image& image, const Box& box, const std::string& opacity) {
    return fmt::format(
        "<image {} preserveAspectRatio=\"none\" style=\"image-rendering:pixelated\"{} "
        "href=\"{}\"/>",
        svg_place(box), opacity, png_data_uri(without_full_alpha(image)));
}

}  // namespace

SvgImages::TextureMapping SvgImages::mapping_of(const DrawPolygon& polygon) {
    // Of the first, second and last corner, which are never on one line in a rectangle.
    const ImDrawVert &a = polygon.corners[0], &b = polygon.corners[1], &c = polygon.corners.back();
    const ImVec2 p = {b.pos.x - a.pos.x, b.pos.y - a.pos.y};
    const ImVec2 q = {c.pos.x - a.pos.x, c.pos.y - a.pos.y};
    const float area = p.x * q.y - p.y * q.x;
    if (!(std::abs(area) > 1e-3F)) return {};
    const auto solve = [&](float to_b, float to_c) {  // how a coordinate grows along x and y
        return ImVec2{(to_b * q.y - to_c * p.y) / area, (to_c * p.x - to_b * q.x) / area};
    };
    const ImVec2 u = solve(b.uv.x - a.uv.x, c.uv.x - a.uv.x);
    const ImVec2 v = solve(b.uv.y - a.uv.y, c.uv.y - a.uv.y);
    return {{a.uv.x - u.x * a.pos.x - u.y * a.pos.y, a.uv.y - v.x * a.pos.x - v.y * a.pos.y},
            {u.x, v.x},
            {u.y, v.y}};
}

void SvgImages::add(const DrawPolygon& polygon, const Image& texture, const Box& clip) {
    if (texture.width <= 0 || texture.height <= 0 || polygon.corners.size() < 4) return;
    const Box box = extent_of(polygon);
    const Box shown = overlap_of(box, overlap_of(clip, page_.box()));
    if (!has_area(shown)) return;
    const TexturedArea area{texture, box, shown, mapping_of(polygon), mean_color(polygon)};
    // How far the texture coordinates move across the box, in texels.
    const auto& [at, right, down] = area.mapping;
    const auto travel = [&](ImVec2 per_pixel, float pixels) {
        return ImVec2{std::abs(per_pixel.x * pixels) * float(texture.width),
                      std::abs(per_pixel.y * pixels) * float(texture.height)};
    };
    const ImVec2 across = travel(right, box.width()), along = travel(down, box.height());
    const bool is_upright = across.y < kTexelSlack && along.x < kTexelSlack;
    const bool has_one_row = across.y < kTexelSlack && along.y < kTexelSlack;
    const auto is_beyond = [](float from, float to) {
        return std::min(from, to) < -1e-3F || std::max(from, to) > 1 + 1e-3F;
    };
    const ImVec2 low = {at.x + right.x * box.low.x, at.y + down.y * box.low.y};
    const ImVec2 high = {at.x + right.x * box.high.x, at.y + down.y * box.high.y};
    if (has_one_row && texture.width > 1 && (across.x > 0 || along.x > 0) &&
        (!is_upright || is_beyond(low.x, high.x)))
        write_stripes(area);
    else if (!is_upright)
        write_sampled(area);
    else if (is_beyond(low.x, high.x) || is_beyond(low.y, high.y))
        write_repeated(area);
    else
        write_crop(area);
}

void SvgImages::write_image(const Image& image, const Box& box, const TexturedArea& area) {
    page_.add(image_element(image, box, opacity_of(area.color)), box, area.shown);
}

void SvgImages::write_crop(const TexturedArea& area) {
    const Image& texture = area.texture;
    const auto& [at, right, down] = area.mapping;
    const TexelRange columns = texels_of(at.x + right.x * area.shown.low.x,
                                         at.x + right.x * area.shown.high.x, texture.width);
    const TexelRange rows = texels_of(at.y + down.y * area.shown.low.y,
                                      at.y + down.y * area.shown.high.y, texture.height);
    // Where whole texels lie; of one texel alone the whole area.
    const auto edges = [](float offset, float slope, TexelRange range, int64_t count, ImVec2 all) {
        if (slope == 0) return all;
        const float a = (float(range.begin) / float(count) - offset) / slope;
        const float b = (float(range.end) / float(count) - offset) / slope;
        return ImVec2{std::min(a, b), std::max(a, b)};
    };
    const ImVec2 x =
        edges(at.x, right.x, columns, texture.width, {area.box.low.x, area.box.high.x});
    const ImVec2 y = edges(at.y, down.y, rows, texture.height, {area.box.low.y, area.box.high.y});

    const int64_t wide = columns.end - columns.begin, high = rows.end - rows.begin;
    const int64_t across = pixels_of_texel(x.y - x.x, wide),
                  along = pixels_of_texel(y.y - y.x, high);
    const TintedTexels from{texture, area.color};
    Image out{wide * across, high * along, 4, {}};
    for (int64_t i = 0; i < out.height; ++i)
        for (int64_t k = 0; k < out.width; ++k) {
            const int64_t column = k / across, row = i / along;
            append_texel(out, from, right.x < 0 ? columns.end - 1 - column : columns.begin + column,
                         down.y < 0 ? rows.end - 1 - row : rows.begin + row);
        }
    write_image(out, {{x.x, y.x}, {x.y, y.y}}, area);
}

void SvgImages::write_pattern(const TexturedArea& area, SvgTag tag) {
    tag.attributes += " patternUnits=\"userSpaceOnUse\"";
    page_.add(fmt::format("<rect {} fill=\"url(#{})\"{}/>", svg_place(area.shown),
                          page_.define(tag), opacity_of(area.color)),
              area.shown, area.shown);
}

// A texture of one row along a slope: stripes, as the pattern of one period.
void SvgImages::write_stripes(const TexturedArea& area) {
    const Image& texture = area.texture;
    const float ux = area.mapping.right.x, uy = area.mapping.down.x;
    const double slope = std::hypot(double(ux), double(uy)), period = 1 / slope;
    const double degrees = std::atan2(double(uy), double(ux)) * 180 / 3.14159265358979;
    const double phase = double(area.mapping.at.x) - std::floor(double(area.mapping.at.x));
    const auto row = std::clamp(int64_t(area.mapping.at.y * float(texture.height)), int64_t{0},
                                texture.height - 1);
    Image line{texture.width, 1, 4, {}};
    for (int64_t i = 0; i < texture.width; ++i) append_texel(line, {texture, area.color}, i, row);
    const auto texel = [&](int64_t i) {
        const uint8_t* const p = &line.pixels[size_t(i * 4)];
        return IM_COL32(p[0], p[1], p[2], p[3]);
    };
    const double wide = period / double(texture.width);
    std::string stripes;
    for (int64_t begin = 0, end = 0; begin < texture.width; begin = end) {
        while (end < texture.width && texel(end) == texel(begin)) ++end;
        // Over the next ones, so that no ground shows through at the seams.
        const bool is_opaque = (texel(begin) & IM_COL32_A_MASK) == IM_COL32_A_MASK;
        const double until = double(is_opaque ? texture.width : end);
        stripes += fmt::format("<rect x=\"{:.4g}\" width=\"{:.4g}\" height=\"8\" {}/>",
                               wide * double(begin), wide * (until - double(begin)),
                               svg_paint("fill", texel(begin)));
    }
    // Shifted by the transform: of a pattern's own x and y, not all programs make the same.
    write_pattern(area, {.name = "pattern",
                         .attributes = fmt::format("width=\"{:.6g}\" height=\"8\" "
                                                   "patternTransform=\"rotate({:.6g}) "
                                                   "translate({} 0)\"",
                                                   period, degrees, svg_number(-phase * period)),
                         .content = stripes});
}

void SvgImages::write_repeated(const TexturedArea& area) {
    const Image& texture = area.texture;
    const auto& [at, right, down] = area.mapping;
    if (right.x == 0 || down.y == 0) return write_sampled(area);
    const TintedTexels from{texture, area.color};
    Image out{texture.width, texture.height, 4, {}};
    for (int64_t i = 0; i < out.height; ++i)
        for (int64_t k = 0; k < out.width; ++k)
            append_texel(out, from, right.x < 0 ? out.width - 1 - k : k,
                         down.y < 0 ? out.height - 1 - i : i);
    const ImVec2 period = {1 / std::abs(right.x), 1 / std::abs(down.y)};
    const ImVec2 start = {-at.x / right.x, -at.y / down.y};
    write_pattern(area, {.name = "pattern",
                         .attributes = fmt::format("width=\"{:.6g}\" height=\"{:.6g}\" "
                                                   "patternTransform=\"translate({})\"",
                                                   period.x, period.y, svg_point(start)),
                         .content = image_element(out, {{0, 0}, period}, {})});
}

// Turned by any angle: as the pixels of the screen have it.
void SvgImages::write_sampled(const TexturedArea& area) {
    const Image& texture = area.texture;
    const auto& [at, right, down] = area.mapping;
    const Box box{{std::floor(area.shown.low.x), std::floor(area.shown.low.y)},
                  {std::ceil(area.shown.high.x), std::ceil(area.shown.high.y)}};
    const TintedTexels from{texture, area.color};
    const auto texel = [](float place, int64_t count) {
        const float part = place - std::floor(place);
        return std::min(int64_t(part * float(count)), count - 1);
    };
    Image out{int64_t(box.width()), int64_t(box.height()), 4, {}};
    for (int64_t i = 0; i < out.height; ++i)
        for (int64_t k = 0; k < out.width; ++k) {
            const ImVec2 p = {box.low.x + float(k) + 0.5F, box.low.y + float(i) + 0.5F};
            append_texel(out, from, texel(at.x + right.x * p.x + down.x * p.y, texture.width),
                         texel(at.y + right.y * p.x + down.y * p.y, texture.height));
        }
    write_image(out, box, area);
}

}  // namespace aft::viz
