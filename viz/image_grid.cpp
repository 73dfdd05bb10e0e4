#include "viz/image_grid.h"

#include <algorithm>
#include <cmath>

#include "core/check.h"

namespace aft::viz {
namespace {

bool is_missing(const TokenImage& image, int64_t i) {
    if (image.known < 0 || i < image.known) return false;
    return image.unknown.empty() || image.unknown[static_cast<size_t>(i)] != 0;
}

Image to_rgba(const Image& image) {
    if (image.channels == 4) return image;
    Image out{image.width, image.height, 4, {}};
    out.pixels.reserve(size_t(image.width * image.height * 4));
    const auto step = static_cast<size_t>(image.channels);
    for (size_t i = 0; i + step <= image.pixels.size(); i += step)
        out.pixels.insert(out.pixels.end(), {image.pixels[i], image.pixels[i + (step == 3 ? 1 : 0)],
                                             image.pixels[i + (step == 3 ? 2 : 0)], 255});
    return out;
}

struct PixelGrid {
    const ImageView& view;
    const Look& look;
    Box box;
    float zoom;

    [[nodiscard]] Box cell(int64_t row, int64_t column) const {
        const ImVec2 low = {box.low.x + zoom * float(column), box.low.y + zoom * float(row)};
        return {low, {low.x + zoom, low.y + zoom}};
    }
    [[nodiscard]] bool is_on(std::span<const uint8_t> mask, int64_t row, int64_t column) const {
        return row >= 0 && column >= 0 && row < view.height && column < view.width &&
               mask[static_cast<size_t>(row * view.width + column)] != 0;
    }
};

struct BorderLine {
    float width;  // pixels
    ImU32 color;
};

// Fills lines inside of the cells that is_in(row, column) names, along their border; they meet at
// every corner. The cells around the picture are asked for, too.
template <class IsIn>
void fill_border(const PixelGrid& grid, const IsIn& is_in, std::span<const BorderLine> lines) {
    ImDrawList* const list = ImGui::GetWindowDrawList();
    const auto fill_cell = [&](int64_t r, int64_t c, const BorderLine& line) {
        const Box b = grid.cell(r, c);
        const float w = std::min(line.width, grid.zoom);
        const auto fill = [&](float left, float top, float right, float bottom) {
            if (left < right && top < bottom)
                list->AddRectFilled({left, top}, {right, bottom}, line.color);
        };
        const bool above = is_in(r - 1, c), below = is_in(r + 1, c);
        const float top = above ? b.low.y : b.low.y + w, end = below ? b.high.y : b.high.y - w;
        if (!above) fill(b.low.x, b.low.y, b.high.x, top);
        if (!below) fill(b.low.x, std::max(end, top), b.high.x, b.high.y);
        for (const int64_t side : {-1, 1}) {
            const float left = side < 0 ? b.low.x : b.high.x - w;
            const bool beside = is_in(r, c + side);
            if (!beside) fill(left, top, left + w, end);
            // A corner that the lines of its neighbours leave open.
            if (beside && above && !is_in(r - 1, c + side))
                fill(left, b.low.y, left + w, b.low.y + w);
            if (beside && below && !is_in(r + 1, c + side))
                fill(left, b.high.y - w, left + w, b.high.y);
        }
    };
    for (int64_t r = -1; r <= grid.view.height; ++r)
        for (int64_t c = -1; c <= grid.view.width; ++c)
            if (is_in(r, c))
                for (const BorderLine& line : lines) fill_cell(r, c, line);
}

float line_width(const PixelGrid& grid) {
    return std::max(1.0F, grid.look.px(1));
}

void draw_mask(const PixelGrid& grid) {
    if (grid.view.mask.empty()) return;
    AFT_ASSERT(int64_t(grid.view.mask.size()) == grid.view.height * grid.view.width);
    ImDrawList* const list = ImGui::GetWindowDrawList();
    const float s = grid.look.scale;
    for (int64_t r = 0; r < grid.view.height; ++r) {
        for (int64_t c = 0; c < grid.view.width;) {
            int64_t end = c;  // one rectangle per run of cells
            while (grid.is_on(grid.view.mask, r, end)) ++end;
            if (end > c) {
                const Box run = {grid.cell(r, c).low, grid.cell(r, end - 1).high};
                list->AddRectFilled(run.low, run.high, viz::with_alpha(rgb(0x0B0C0E), 0.8F));
                list->PushClipRect(run.low, run.high, true);
                const float pitch = 6 * s * 1.4142F, height = run.height();
                const float first = run.low.x - std::fmod(run.low.x + run.low.y, pitch);
                for (float x = first; x < run.high.x + height; x += pitch)
                    list->AddLine({x - height, run.high.y}, {x, run.low.y},
                                  viz::with_alpha(rgb(0x8E96A0), 0.35F), s);
                list->PopClipRect();
            }
            c = std::max(end, c + 1);
        }
    }
    const BorderLine edge[] = {{line_width(grid), grid.look.theme.accent}};
    fill_border(grid, [&](int64_t r, int64_t c) { return grid.is_on(grid.view.mask, r, c); }, edge);
}

void draw_outline(const PixelGrid& grid) {
    if (grid.view.outlined.empty()) return;
    const float width = line_width(grid);
    const ImU32 dark = viz::with_alpha(rgb(0x0B0C0E), 0.85F);
    // White inside of the region, with a dark rim on both sides: seen on any colour.
    const BorderLine inside[] = {{2 * width, dark}, {width, rgb(0xFFFFFF)}},
                     outside[] = {{width, dark}};
    const auto is_in = [&](int64_t r, int64_t c) { return grid.is_on(grid.view.outlined, r, c); };
    fill_border(grid, is_in, inside);
    fill_border(grid, [&](int64_t r, int64_t c) { return !is_in(r, c); }, outside);
}

// Only where its lines leave something of the pixels.
void draw_changed(const PixelGrid& grid) {
    const float width = line_width(grid);
    if (grid.view.changed.empty() || grid.zoom < 5 * width) return;
    AFT_ASSERT(int64_t(grid.view.changed.size()) == grid.view.height * grid.view.width);
    const BorderLine inside[] = {{2 * width, viz::with_alpha(rgb(0x0B0C0E), 0.85F)},
                                 {width, grid.look.theme.accent}};
    fill_border(
        grid, [&](int64_t r, int64_t c) { return grid.is_on(grid.view.changed, r, c); }, inside);
}

void draw_future(const PixelGrid& grid) {
    const MapCell t = grid.view.target;
    if (!grid.view.is_future_dark || !t.is_valid()) return;
    ImDrawList* const list = ImGui::GetWindowDrawList();
    const ImU32 shade = viz::with_alpha(rgb(0x0B0C0E), 0.55F);
    const Box at = grid.cell(t.row, t.column);
    list->AddRectFilled({at.high.x, at.low.y}, {grid.box.high.x, at.high.y}, shade);
    list->AddRectFilled({grid.box.low.x, at.high.y}, grid.box.high, shade);
}

void draw_cells(const PixelGrid& grid) {
    const auto at = [&](MapCell cell) { return grid.cell(cell.row, cell.column); };
    if (grid.view.next.is_valid()) {
        const Box box = at(grid.view.next);
        ImGui::GetWindowDrawList()->AddRectFilled(box.low, box.high, rgb(0xFFFFFF));
    }
    const Box source = at(grid.view.source), target = at(grid.view.target);
    draw_cell_rings(grid.look, grid.view.source.is_valid() ? &source : nullptr,
                    grid.view.target.is_valid() ? &target : nullptr);
}

}  // namespace

Image token_pixels(const TokenImage& image) {
    const int64_t pixels = image.height * image.width;
    AFT_ASSERT(int64_t(image.tokens.size()) >= pixels * image.channels);
    Image out{image.width, image.height, 4, {}};
    out.pixels.resize(size_t(pixels) * 4);
    const double scale = 255.0 / double(std::max<int64_t>(1, image.levels - 1));
    for (int64_t p = 0; p < pixels; ++p) {
        uint8_t* const rgba = &out.pixels[size_t(p) * 4];
        rgba[3] = 255;
        for (int64_t c = 0; c < 3; ++c) {
            const int64_t i = p * image.channels + std::min(c, image.channels - 1);
            const double level = image.tokens[size_t(i)];
            rgba[c] = static_cast<uint8_t>(std::clamp(std::lround(level * scale), 0L, 255L));
            if (is_missing(image, i)) rgba[3] = 0;
        }
    }
    return out;
}

void TokenTexture::set(const TokenImage& image, const Look& look) {
    const size_t count = size_t(image.height * image.width * image.channels);
    AFT_ASSERT(image.tokens.size() >= count);
    values_ = {};
    rows_ = image.height;
    columns_ = image.width;
    levels_.resize(count);
    for (size_t i = 0; i < count; ++i)
        levels_[i] = is_missing(image, int64_t(i)) ? int16_t{-1} : int16_t{image.tokens[i]};
    if (look.painter != nullptr) upload(token_pixels(image), look);
}

void TokenTexture::set(const Image& image, const Look& look) {
    values_ = {};
    levels_.clear();
    upload(image, look);
}

void TokenTexture::upload(const Image& image, const Look& look) {
    if (look.painter == nullptr || image.width <= 0 || image.height <= 0) return;
    const Image rgba = to_rgba(image);
    const bool fits = texture_.width() == image.width && texture_.height() == image.height;
    if (fits && rgba.pixels == shown_) return;
    if (!fits) texture_ = gl::Texture::rgba(int(image.width), int(image.height));
    texture_.upload({0, 0, int(image.width), int(image.height)}, rgba.pixels);
    look.painter->note(texture_);
    shown_ = rgba.pixels;
}

// What is transparent is NaN.
NumberTable TokenTexture::numbers() const {
    if (!values_.values.empty()) return values_;
    if (!levels_.empty()) {
        const int64_t channels = int64_t(levels_.size()) / (rows_ * columns_);
        NumberTable out{.name = {}, .shape = {rows_, columns_, channels}, .values = {}};
        for (const int16_t level : levels_)
            out.values.push_back(level < 0 ? std::nan("") : double(level));
        return out;
    }
    NumberTable out{.name = {}, .shape = {texture_.height(), texture_.width(), 3}, .values = {}};
    for (size_t i = 0; i + 3 < shown_.size(); i += 4)
        for (size_t c = 0; c < 3; ++c)
            out.values.push_back(shown_[i + 3] == 0 ? std::nan("") : double(shown_[i + c]));
    return out;
}

ImTextureID TokenTexture::id() const {
    return static_cast<ImTextureID>(texture_.id());
}

ImageReply draw_image(const ImageView& view, const TokenTexture& texture, const Look& look) {
    ImageReply reply;
    reply.zoom = view.zoom > 0 ? view.zoom : fit_zoom(view.area, view.height, view.width, 4096);
    const ImVec2 corner = ImGui::GetCursorScreenPos();
    const ImVec2 size = {float(reply.zoom * std::max<int64_t>(1, view.width)),
                         float(reply.zoom * std::max<int64_t>(1, view.height))};
    reply.box = {corner, {corner.x + size.x, corner.y + size.y}};
    ImGui::InvisibleButton(view.id, size);
    const ImVec2 mouse = ImGui::GetIO().MousePos;
    const auto cell = [&](ImVec2 p) {
        return MapCell{
            std::clamp<int64_t>(int64_t((p.y - corner.y) / float(reply.zoom)), 0, view.height - 1),
            std::clamp<int64_t>(int64_t((p.x - corner.x) / float(reply.zoom)), 0, view.width - 1)};
    };
    if (ImGui::IsItemHovered() && reply.box.contains(mouse)) reply.hovered = cell(mouse);
    reply.pressed = ImGui::IsItemActivated();
    reply.released = ImGui::IsItemDeactivated();
    if (ImGui::IsItemActive()) reply.dragged = cell(mouse);
    if (reply.released && reply.hovered.is_valid()) reply.clicked = reply.hovered;

    if (NumberTable numbers = look.numbers != nullptr ? texture.numbers() : NumberTable();
        !numbers.values.empty())
        look.numbers->add(view.id, std::move(numbers));
    const PixelGrid grid{view, look, reply.box, float(reply.zoom)};
    draw_hatch(look, reply.box);  // shows where pixels are transparent
    if (texture.id() != ImTextureID_Invalid)
        ImGui::GetWindowDrawList()->AddImage(texture.id(), reply.box.low, reply.box.high, {0, 0},
                                             {1, 1}, with_alpha(rgb(0xFFFFFF), view.alpha));
    draw_future(grid);
    draw_mask(grid);
    draw_outline(grid);
    draw_changed(grid);
    draw_cells(grid);
    return reply;
}

}  // namespace aft::viz
