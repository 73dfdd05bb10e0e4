#include <algorithm>
#include <cmath>

#include "core/check.h"
#include "core/figure/drawing.h"
#include "core/figure/glyphs.h"
#include "core/images/codecs.h"

namespace aft {

namespace {

struct PixelBox {
    int64_t left = 0, top = 0, right = 0, bottom = 0;
};

class Painter {
  public:
    Painter(const FigureDrawing& drawing, int scale) : scale_(scale) {
        image_.width = static_cast<int64_t>(std::ceil(drawing.width)) * scale;
        image_.height = static_cast<int64_t>(std::ceil(drawing.height)) * scale;
        image_.channels = 3;
        check_image_size(image_.width, image_.height);
        image_.pixels.resize(static_cast<size_t>(image_.width * image_.height * 3));
        fill({0, 0, image_.width, image_.height}, drawing.ground);
    }

    void operator()(const TextMark& mark) {
        for (const GlyphPixels& letter : glyphs_.letters(mark, scale_))
            for (int y = 0; y < letter.height; ++y)
                for (int x = 0; x < letter.width; ++x) {
                    const auto at = static_cast<size_t>(y) * static_cast<size_t>(letter.width) +
                                    static_cast<size_t>(x);
                    blend(letter.x + x, letter.y + y, mark.ink, letter.coverage[at] / 255.0);
                }
    }
    void operator()(const FillMark& mark) { fill(pixels_of(mark.box), mark.ink); }
    void operator()(const HatchMark& mark) {
        const PixelBox box = pixels_of(mark.box);
        fill(box, mark.ground);
        const double apart = 6 * std::sqrt(2.0) * scale_, half = 0.6 * scale_;
        for (int64_t y = box.top; y < box.bottom; ++y)
            for (int64_t x = box.left; x < box.right; ++x) {
                const double along = std::fmod(static_cast<double>(x + y) + 0.5, apart);
                const double distance = std::min(along, apart - along) / std::sqrt(2.0);
                blend(x, y, mark.line, std::clamp(half - distance + 0.5, 0.0, 1.0));
            }
    }
    void operator()(const LineMark& mark);
    void operator()(const DotMark& mark) {
        const double r = mark.radius * scale_, cx = mark.at.x * scale_, cy = mark.at.y * scale_;
        for (auto y = static_cast<int64_t>(cy - r) - 1; y <= static_cast<int64_t>(cy + r) + 1; ++y)
            for (auto x = static_cast<int64_t>(cx - r) - 1; x <= static_cast<int64_t>(cx + r) + 1;
                 ++x) {
                const double away = std::hypot(static_cast<double>(x) + 0.5 - cx,
                                               static_cast<double>(y) + 0.5 - cy);
                blend(x, y, mark.ink, std::clamp(r - away + 0.5, 0.0, 1.0));
            }
    }
    void operator()(const ImageMark& mark);

    [[nodiscard]] Image take() { return std::move(image_); }

  private:
    [[nodiscard]] PixelBox pixels_of(const DrawBox& box) const {
        const auto whole = [&](double v) { return static_cast<int64_t>(std::lround(v * scale_)); };
        const PixelBox out{whole(box.x), whole(box.y), whole(box.right()), whole(box.bottom())};
        return {std::max<int64_t>(out.left, 0), std::max<int64_t>(out.top, 0),
                std::min(out.right, image_.width), std::min(out.bottom, image_.height)};
    }
    void fill(const PixelBox& box, uint32_t ink) {
        for (int64_t y = box.top; y < box.bottom; ++y)
            for (int64_t x = box.left; x < box.right; ++x) blend(x, y, ink, 1);
    }
    void blend(int64_t x, int64_t y, uint32_t ink, double share) {
        if (share <= 0 || x < 0 || y < 0 || x >= image_.width || y >= image_.height) return;
        uint8_t* const to = &image_.pixels[static_cast<size_t>((y * image_.width + x) * 3)];
        for (int c = 0; c < 3; ++c) {
            const double from = to[c], wanted = ink >> (16 - 8 * c) & 0xFFU;
            to[c] = static_cast<uint8_t>(std::lround(from + (wanted - from) * share));
        }
    }

    int scale_;
    Image image_;
    GlyphSource glyphs_;
};

// Distance of a point to a segment.
double away(DrawPoint p, DrawPoint a, DrawPoint b) {
    const double dx = b.x - a.x, dy = b.y - a.y, length = dx * dx + dy * dy;
    const double along =
        length > 0 ? std::clamp(((p.x - a.x) * dx + (p.y - a.y) * dy) / length, 0.0, 1.0) : 0;
    return std::hypot(p.x - a.x - along * dx, p.y - a.y - along * dy);
}

// Coverage is the largest over the segments, so that joints are not drawn twice.
void Painter::operator()(const LineMark& mark) {
    if (mark.points.empty()) return;
    double left = 1e9, top = 1e9, right = -1e9, bottom = -1e9;
    for (const DrawPoint& p : mark.points) {
        left = std::min(left, p.x * scale_);
        right = std::max(right, p.x * scale_);
        top = std::min(top, p.y * scale_);
        bottom = std::max(bottom, p.y * scale_);
    }
    const double half = mark.width * scale_ / 2, more = half + 2;
    const PixelBox box{std::max<int64_t>(0, static_cast<int64_t>(left - more)),
                       std::max<int64_t>(0, static_cast<int64_t>(top - more)),
                       std::min<int64_t>(image_.width, static_cast<int64_t>(right + more)),
                       std::min<int64_t>(image_.height, static_cast<int64_t>(bottom + more))};
    const int64_t wide = box.right - box.left, high = box.bottom - box.top;
    if (wide <= 0 || high <= 0) return;
    std::vector<float> coverage(static_cast<size_t>(wide * high), 0.0F);
    for (size_t i = 0; i < mark.points.size(); ++i) {
        const DrawPoint& p = mark.points[i];
        const DrawPoint& q = mark.points[std::min(i + 1, mark.points.size() - 1)];
        const DrawPoint a{p.x * scale_, p.y * scale_}, b{q.x * scale_, q.y * scale_};
        const auto y0 = static_cast<int64_t>(std::min(a.y, b.y) - more);
        const auto y1 = static_cast<int64_t>(std::max(a.y, b.y) + more);
        const auto x0 = static_cast<int64_t>(std::min(a.x, b.x) - more);
        const auto x1 = static_cast<int64_t>(std::max(a.x, b.x) + more);
        for (int64_t y = std::max(y0, box.top); y < std::min(y1, box.bottom); ++y)
            for (int64_t x = std::max(x0, box.left); x < std::min(x1, box.right); ++x) {
                const DrawPoint centre{static_cast<double>(x) + 0.5, static_cast<double>(y) + 0.5};
                const double share = std::clamp(half - away(centre, a, b) + 0.5, 0.0, 1.0);
                float& to = coverage[static_cast<size_t>((y - box.top) * wide + x - box.left)];
                to = std::max(to, static_cast<float>(share));
            }
    }
    for (int64_t y = 0; y < high; ++y)
        for (int64_t x = 0; x < wide; ++x)
            blend(box.left + x, box.top + y, mark.ink,
                  mark.opacity * double{coverage[static_cast<size_t>(y * wide + x)]});
}

void Painter::operator()(const ImageMark& mark) {
    const Image& from = mark.image;
    const PixelBox box = pixels_of(mark.box);
    for (int64_t y = box.top; y < box.bottom; ++y)
        for (int64_t x = box.left; x < box.right; ++x) {
            const int64_t u = (x - box.left) * from.width / (box.right - box.left);
            const int64_t v = (y - box.top) * from.height / (box.bottom - box.top);
            const uint8_t* const p =
                &from.pixels[static_cast<size_t>((v * from.width + u) * from.channels)];
            const bool grey = from.channels == 1;
            const uint32_t ink =
                uint32_t{p[0]} << 16U | uint32_t{p[grey ? 0 : 1]} << 8U | p[grey ? 0 : 2];
            blend(x, y, ink, from.channels == 4 ? p[3] / 255.0 : 1);
        }
}

}  // namespace

Image to_image(const FigureDrawing& drawing, int scale) {
    AFT_ASSERT(scale >= 1 && scale <= 4);
    Painter painter(drawing, scale);
    for (const DrawMark& mark : drawing.marks) std::visit(painter, mark);
    return painter.take();
}

}  // namespace aft
