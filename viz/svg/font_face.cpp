#include "viz/svg/font_face.h"

#include <algorithm>

#include "core/images/stb_truetype.h"
#include "core/images/svg.h"

namespace aft::viz {

struct FontFace::Impl {
    stbtt_fontinfo info{};
    bool is_readable = false;
    FontFacts facts{};
};

namespace {

// Entry `id` of the table of names in English, of the characters that ASCII has.
std::string name_in_font(const stbtt_fontinfo& info, int id) {
    int length = 0;
    const char* const text =
        stbtt_GetFontNameString(&info, &length, STBTT_PLATFORM_ID_MICROSOFT,
                                STBTT_MS_EID_UNICODE_BMP, STBTT_MS_LANG_ENGLISH, id);
    std::string out;
    for (int i = 0; text != nullptr && i + 1 < length; i += 2)  // UTF-16, the high byte first
        if (text[i] == 0 && text[i + 1] >= 0x20 && text[i + 1] < 0x7F) out += text[i + 1];
    return out;
}

FontFacts facts_of(const stbtt_fontinfo& info, std::span<const unsigned char> bytes) {
    constexpr int kFamily = 1, kTypographicFamily = 16;
    FontFacts out;
    out.family = name_in_font(info, kTypographicFamily);
    if (out.family.empty()) out.family = name_in_font(info, kFamily);
    // stb's own type of a file has no const.
    const stbtt_uint32 os2 = stbtt__find_table(info.data, stbtt_uint32(info.fontstart), "OS/2");
    if (os2 != 0 && size_t{os2} + 6 <= bytes.size()) {
        const int weight = bytes[os2 + 4] << 8 | bytes[os2 + 5];
        if (weight >= 100 && weight <= 900) out.weight = weight;
    }
    const float em = stbtt_ScaleForMappingEmToPixels(&info, 1);
    if (em > 0) out.em_per_height = stbtt_ScaleForPixelHeight(&info, 1) / em;
    return out;
}

}  // namespace

FontFace::FontFace(std::span<const unsigned char> bytes, int number)
    : impl_(std::make_unique<Impl>()) {
    if (bytes.empty()) return;
    const int offset = stbtt_GetFontOffsetForIndex(bytes.data(), number);
    impl_->is_readable = offset >= 0 && stbtt_InitFont(&impl_->info, bytes.data(), offset) != 0;
    if (impl_->is_readable) impl_->facts = facts_of(impl_->info, bytes);
}

FontFace::~FontFace() = default;
FontFace::FontFace(FontFace&&) noexcept = default;

const FontFacts& FontFace::facts() const {
    return impl_->facts;
}

std::string FontFace::outline(unsigned character,
                              const std::function<ImVec2(float right, float up)>& place) const {
    if (!impl_->is_readable) return {};
    const int glyph = stbtt_FindGlyphIndex(&impl_->info, int(character));
    stbtt_vertex* corners = nullptr;
    const int count = glyph == 0 ? 0 : stbtt_GetGlyphShape(&impl_->info, glyph, &corners);
    const float unit = stbtt_ScaleForPixelHeight(&impl_->info, 1);
    const auto point = [&](int x, int y) {
        const ImVec2 at = place(float(x) * unit, float(y) * unit);
        return svg_number(double(at.x)) + ' ' + svg_number(double(at.y));
    };
    std::string out;
    for (int i = 0; i < count; ++i) {
        const stbtt_vertex& v = corners[i];
        if (v.type == STBTT_vmove) out += (out.empty() ? "M" : "ZM") + point(v.x, v.y);
        if (v.type == STBTT_vline) out += 'L' + point(v.x, v.y);
        if (v.type == STBTT_vcurve) out += 'Q' + point(v.cx, v.cy) + ' ' + point(v.x, v.y);
        if (v.type == STBTT_vcubic)
            out += 'C' + point(v.cx, v.cy) + ' ' + point(v.cx1, v.cy1) + ' ' + point(v.x, v.y);
    }
    stbtt_FreeShape(&impl_->info, corners);
    return out.empty() ? out : out + 'Z';
}

}  // namespace aft::viz
