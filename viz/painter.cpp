#include "viz/painter.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/files.h"
#include "viz/gl/api.h"

namespace aft::viz {
namespace {

gl::Texture table_texture(Colormap map) {
    std::vector<uint8_t> rgba;
    for (const Rgb& color : colormap_table(map))
        rgba.insert(rgba.end(), {color[0], color[1], color[2], 255});
    gl::Texture texture = gl::Texture::rgba(256, 1, gl::Filter::linear);
    texture.upload({0, 0, 256, 1}, rgba);
    return texture;
}

// What of a pixel the line covers, at distances from its middle over one period.
gl::Texture hatch_texture(ImU32 ground, ImU32 line, float scale) {
    constexpr int kTexels = 64;
    std::vector<uint8_t> rgba;
    for (int i = 0; i < kTexels; ++i) {
        const float part = (float(i) + 0.5F) / kTexels;
        const float distance = std::min(part, 1 - part) * kHatchPitch * scale;
        const float solid = (kHatchLine * scale - 1) / 2;  // then it fades over a pixel
        const float cover = std::clamp(1 - (distance - solid), 0.0F, 1.0F);
        for (const int shift : {IM_COL32_R_SHIFT, IM_COL32_G_SHIFT, IM_COL32_B_SHIFT}) {
            const auto from = float((ground >> shift) & 0xFF), to = float((line >> shift) & 0xFF);
            rgba.push_back(static_cast<uint8_t>(std::lround(from + cover * (to - from))));
        }
        rgba.push_back(255);
    }
    gl::Texture texture = gl::Texture::rgba(kTexels, 1, gl::Filter::linear);
    texture.upload({0, 0, kTexels, 1}, rgba);
    texture.repeat();
    return texture;
}

std::array<float, 2> bend_of(const Coloring& coloring) {
    const Range range = coloring.range;
    if (coloring.scale == Scale::log)
        return {static_cast<float>(range.low > 0 ? range.low : range.high * 1e-4), 0.0F};
    const double m = std::max(std::abs(range.low), std::abs(range.high));
    const double c = std::min(0.25, m / 4);
    if (!(c > 0)) return {1.0F, 1.0F};
    return {static_cast<float>(c), static_cast<float>(std::log1p(m / c))};
}

}  // namespace

MapPainter::MapPainter()
    : program_(shared_file("shaders/map.vert"), shared_file("shaders/map.frag")) {
    for (size_t i = 0; i < tables_.size(); ++i) tables_[i] = table_texture(Colormap(i));
}

void MapPainter::paint(const gl::Texture& values, const gl::Framebuffer& target,
                       const gl::Pixels& where, const PaintColors& colors) {
    note(target.texture());
    const Coloring& coloring = colors.coloring;
    const gl::KeepTarget keep;
    glBindFramebuffer(GL_FRAMEBUFFER, target.id());
    glViewport(where.x, where.y, where.width, where.height);
    glDisable(GL_BLEND);
    glDisable(GL_SCISSOR_TEST);
    glDisable(GL_DEPTH_TEST);
    glDisable(GL_CULL_FACE);
    program_.use();
    glActiveTexture(GL_TEXTURE1);
    glBindTexture(GL_TEXTURE_2D, tables_[static_cast<size_t>(coloring.map)].id());
    glActiveTexture(GL_TEXTURE0);
    glBindTexture(GL_TEXTURE_2D, values.id());
    const auto bend = bend_of(coloring);
    const auto part = [&](int shift) { return float((colors.nan_color >> shift) & 0xFF) / 255.0F; };
    program_.set("values", 0);
    program_.set("table", 1);
    program_.set("range", float(coloring.range.low), float(coloring.range.high));
    program_.set("bend", bend[0], bend[1]);
    program_.set("scale", static_cast<int>(coloring.scale));
    program_.set("nan_color",
                 {part(IM_COL32_R_SHIFT), part(IM_COL32_G_SHIFT), part(IM_COL32_B_SHIFT)});
    program_.draw_triangle();
    glUseProgram(0);
}

ImTextureID MapPainter::hatch(ImU32 ground, ImU32 line, float scale) {
    const auto same = [&](const Hatch& h) {
        return h.ground == ground && h.line == line && h.scale == scale;
    };
    auto at = std::find_if(hatches_.begin(), hatches_.end(), same);
    if (at == hatches_.end()) {
        hatches_.push_back({ground, line, scale, hatch_texture(ground, line, scale)});
        at = hatches_.end() - 1;
    }
    return static_cast<ImTextureID>(at->texture.id());
}

void MapPainter::note(const gl::Texture& texture) {
    const auto id = static_cast<ImTextureID>(texture.id());
    const bool is_known = std::find(repainted_.begin(), repainted_.end(), id) != repainted_.end();
    if (!is_known) repainted_.push_back(id);
}

}  // namespace aft::viz
