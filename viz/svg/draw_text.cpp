#include "viz/svg/draw_text.h"

#include <fmt/format.h>
#include <imgui_internal.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "core/images/svg.h"
#include "core/text.h"

namespace aft::viz {
namespace {

constexpr float kFar = 1e9F;
constexpr float kPenSlack = 0.1F;  // pixels; letters of one call follow each other exactly
constexpr float kMostSpaces = 8;   // more are two texts

uint64_t corner_key(float u, float v) {
    return uint64_t{std::bit_cast<uint32_t>(u)} << 32U | std::bit_cast<uint32_t>(v);
}

float dot(ImVec2 a, ImVec2 b) {
    return a.x * b.x + a.y * b.y;
}

ImVec2 moved(ImVec2 at, ImVec2 way, float by) {
    return {at.x + way.x * by, at.y + way.y * by};
}

ImVec2 right_of(ImVec2 along) {
    return {-along.y, along.x};
}

float space_advance(const ImFontBaked& baked) {
    const float known = baked.IndexAdvanceX.Size > ' ' ? baked.IndexAdvanceX[' '] : -1;
    return known > 0 ? known : baked.FallbackAdvanceX;
}

// From the top of the line to the baseline, as the loader of the atlas rounds it.
float baseline_of(const ImFontBaked& baked) {
    return std::round(baked.Ascent);
}

// The font's own shift of its glyphs, in pixels of the baked size.
ImVec2 shift_of(const ImFontConfig& source, const ImFontBaked& baked) {
    const float reference = baked.OwnerFont->Sources[0]->SizePixels;
    const float scale = reference > 0 ? baked.Size / reference : 1;
    return {std::floor(source.GlyphOffset.x * scale + 0.5F),
            std::floor(source.GlyphOffset.y * scale + 0.5F)};
}

// Characters of the private use area mean nothing outside of their font.
bool is_icon(unsigned character) {
    return character >= 0xE000 && character <= 0xF8FF;
}

void append_utf8(std::string& out, unsigned character) {
    char bytes[5] = {};
    const bool is_allowed = character < 0xFFFE && !(character >= 0xD800 && character < 0xE000);
    ImTextCharToUtf8(bytes, is_allowed ? character : 0xFFFD);
    out += bytes;
}

std::string family_list(std::string family) {
    std::erase(family, '\'');
    const bool is_mono =
        family.find("Mono") != std::string::npos || family.find("Proggy") != std::string::npos;
    const char* const rest =
        is_mono ? "'DejaVu Sans Mono', monospace" : "'DejaVu Sans', sans-serif";
    return family.empty() ? rest : fmt::format("'{}', {}", xml_text(family), rest);
}

}  // namespace

GlyphTable::GlyphTable(const ImFontAtlas& atlas) {
    if (atlas.Builder == nullptr) return;
    const auto& pool = atlas.Builder->BakedPool;
    for (int i = 0; i < pool.Size; ++i) {
        const ImFontBaked& baked = pool[i];
        if (baked.WantDestroy || baked.OwnerFont == nullptr) continue;
        for (const ImFontGlyph& glyph : baked.Glyphs) {
            if (!glyph.Visible || glyph.PackId < 0) continue;
            by_corner_.emplace(corner_key(glyph.U0, glyph.V0), glyphs_.size());
            glyphs_.push_back({&baked, &glyph});
        }
    }
}

const GlyphTable::AtlasGlyph* GlyphTable::at(ImVec2 low, ImVec2 high) const {
    const auto found = by_corner_.find(corner_key(low.x, low.y));
    if (found != by_corner_.end()) return &glyphs_[found->second];
    const ImVec2 middle = {(low.x + high.x) / 2, (low.y + high.y) / 2};  // of one that was cut
    const auto holds = [&](const AtlasGlyph& g) {
        return Box{{g.glyph->U0, g.glyph->V0}, {g.glyph->U1, g.glyph->V1}}.contains(middle);
    };
    const auto one = std::find_if(glyphs_.begin(), glyphs_.end(), holds);
    return one == glyphs_.end() ? nullptr : &*one;
}

std::optional<PlacedGlyph> GlyphTable::find(const DrawPolygon& polygon) const {
    if (polygon.corners.size() != 4) return {};
    const ImDrawVert &first = polygon.corners[0], &second = polygon.corners[1],
                     &last = polygon.corners[3];
    const ImVec2 low = first.uv, high = polygon.corners[2].uv;
    const ImVec2 way = {second.pos.x - first.pos.x, second.pos.y - first.pos.y};
    const float width = std::hypot(way.x, way.y);
    const float tall = std::hypot(last.pos.x - first.pos.x, last.pos.y - first.pos.y);
    if (!(high.x > low.x && high.y > low.y && width > 0 && tall > 0)) return {};
    const AtlasGlyph* const found = at(low, high);
    if (found == nullptr) return {};
    const ImFontGlyph& glyph = *found->glyph;
    const ImFontBaked& baked = *found->baked;

    // From texture coordinates to pixels, so that what was cut off is known.
    const ImVec2 per_uv = {width / (high.x - low.x), tall / (high.y - low.y)};
    const ImVec2 cut_low = {(low.x - glyph.U0) * per_uv.x, (low.y - glyph.V0) * per_uv.y};
    const ImVec2 cut_high = {(glyph.U1 - high.x) * per_uv.x, (glyph.V1 - high.y) * per_uv.y};
    // More than the letter: a picture of the atlas.
    if (std::min(std::min(cut_low.x, cut_low.y), std::min(cut_high.x, cut_high.y)) < -kPenSlack)
        return {};
    const float scale = (glyph.V1 - glyph.V0) * per_uv.y / (glyph.Y1 - glyph.Y0);
    PlacedGlyph out;
    out.font = baked.OwnerFont;
    out.source = out.font->Sources[std::min(int(glyph.SourceIdx), out.font->Sources.Size - 1)];
    out.character = glyph.Codepoint;
    out.along = {way.x / width, way.y / width};
    const ImVec2 down = right_of(out.along);
    const ImVec2 corner = moved(moved(first.pos, out.along, -cut_low.x), down, -cut_low.y);
    out.pen = moved(moved(corner, out.along, -glyph.X0 * scale), down,
                    (baseline_of(baked) - glyph.Y0) * scale);
    const ImVec2 shift = shift_of(*out.source, baked);
    out.shift = {shift.x * scale, shift.y * scale};
    out.height = baked.Size * scale;
    out.advance = glyph.AdvanceX * scale;
    out.space = space_advance(baked) * scale;
    out.extent = extent_of(polygon);
    out.cut = {{-kFar, -kFar}, {kFar, kFar}};
    if (out.along.x > 0.999F) {
        const Box seen = out.extent;
        out.extent = {corner, {seen.high.x + cut_high.x, seen.high.y + cut_high.y}};
        if (cut_low.x > kPenSlack) out.cut.low.x = seen.low.x;
        if (cut_low.y > kPenSlack) out.cut.low.y = seen.low.y;
        if (cut_high.x > kPenSlack) out.cut.high.x = seen.high.x;
        if (cut_high.y > kPenSlack) out.cut.high.y = seen.high.y;
    }
    return out;
}

// How many spaces lie between the run and a letter that continues it; nullopt: it does not.
std::optional<size_t> TextRuns::spaces_before(const PlacedGlyph& glyph, ImU32 color,
                                              const Box& clip) const {
    if (!run_ || run_->color != color || !(run_->clip == clip)) return {};
    const PlacedGlyph& first = run_->first;
    if (first.font != glyph.font || std::abs(first.height - glyph.height) > 0.02F) return {};
    if (dot(first.along, glyph.along) < 0.9999F) return {};
    const ImVec2 gap = {glyph.pen.x - run_->pen.x, glyph.pen.y - run_->pen.y};
    const float along = dot(gap, first.along), across = dot(gap, right_of(first.along));
    const float count = std::round(along / glyph.space);
    if (std::abs(across) > kPenSlack || count < 0 || count > kMostSpaces) return {};
    if (std::abs(along - count * glyph.space) > kPenSlack) return {};
    return size_t(count);
}

bool TextRuns::add(const PlacedGlyph& glyph, ImU32 color, const Box& clip) {
    if (!has_area(overlap_of(glyph.extent, overlap_of(clip, page_.box())))) return true;
    if (is_icon(glyph.character)) {
        flush();
        return write_icon(glyph, color, clip);
    }
    const auto spaces = spaces_before(glyph, color, clip);
    if (!spaces) {
        flush();
        run_ = TextRun{.first = glyph,
                       .pen = glyph.pen,
                       .color = color,
                       .words = {},
                       .letters = 0,
                       .extent = glyph.extent,
                       .clip = clip,
                       .cut = glyph.cut};
    }
    run_->words.append(spaces.value_or(0), ' ');
    append_utf8(run_->words, glyph.character);
    run_->letters += spaces.value_or(0) + 1;
    run_->pen = moved(glyph.pen, glyph.along, glyph.advance);
    run_->cut = overlap_of(run_->cut, glyph.cut);
    run_->extent = {{std::min(run_->extent.low.x, glyph.extent.low.x),
                     std::min(run_->extent.low.y, glyph.extent.low.y)},
                    {std::max(run_->extent.high.x, glyph.extent.high.x),
                     std::max(run_->extent.high.y, glyph.extent.high.y)}};
    return true;
}

const FontFace& TextRuns::face_of(const ImFontConfig& source) {
    const auto* const bytes = static_cast<const unsigned char*>(source.FontData);
    const size_t size = bytes != nullptr ? size_t(source.FontDataSize) : 0;
    return faces_.try_emplace(bytes, std::span(bytes, size), int(source.FontNo)).first->second;
}

void TextRuns::flush() {
    if (!run_) return;
    const TextRun run = std::move(*run_);
    run_.reset();
    const FontFacts& facts = face_of(*run.first.font->Sources[0]).facts();
    const ImVec2 pen = run.first.pen;
    std::string text = fmt::format(
        "<text x=\"{}\" y=\"{}\" font-family=\"{}\" font-size=\"{}\" {}", svg_number(double(pen.x)),
        svg_number(double(pen.y)), family_list(facts.family),
        svg_number(double(run.first.height * facts.em_per_height)), svg_paint("fill", run.color));
    if (facts.weight != 400) text += fmt::format(" font-weight=\"{}\"", facts.weight);
    // Another font than ours, or one with other digits, still takes the place of this one.
    if (run.letters > 1)
        text += fmt::format(" textLength=\"{}\" lengthAdjust=\"spacingAndGlyphs\"",
                            svg_number(double(std::hypot(run.pen.x - pen.x, run.pen.y - pen.y))));
    if (run.words.find("  ") != std::string::npos) text += " xml:space=\"preserve\"";
    const ImVec2 along = run.first.along;
    if (std::abs(along.y) > 1e-3F || along.x < 0)
        text += fmt::format(" transform=\"rotate({} {})\"",
                            svg_number(std::atan2(double(along.y), double(along.x)) * 180 / IM_PI),
                            svg_point(pen));
    page_.add(text + '>' + xml_text(run.words) + "</text>", run.extent,
              overlap_of(run.clip, run.cut));
}

bool TextRuns::write_icon(const PlacedGlyph& glyph, ImU32 color, const Box& clip) {
    const ImVec2 down = right_of(glyph.along);
    const auto place = [&](float right, float up) {
        return moved(moved(glyph.pen, glyph.along, glyph.shift.x + right * glyph.height), down,
                     glyph.shift.y - up * glyph.height);
    };
    const std::string outline = face_of(*glyph.source).outline(glyph.character, place);
    if (outline.empty()) return false;
    page_.add(fmt::format("<path d=\"{}\" {}/>", outline, svg_paint("fill", color)), glyph.extent,
              overlap_of(clip, glyph.cut));
    return true;
}

std::string text_attributes() {
    return "text-rendering=\"geometricPrecision\" style=\"font-kerning:none;"
           "font-variant-ligatures:none;font-variant-numeric:tabular-nums\"";
}

}  // namespace aft::viz
