#include "core/figure/glyphs.h"

#include <cmath>

#include "core/check.h"
#include "core/environment.h"
#include "core/files.h"
#include "core/images/stb_truetype.h"

namespace aft {

struct FigureFont {
    std::string bytes;
    stbtt_fontinfo info{};
};

namespace {

// Folders of the Debian packages first, then of other distributions and the user's own.
std::string font_file(const std::vector<std::string>& names) {
    std::vector<fs::path> folders{"/usr/share/fonts/opentype/inter",
                                  "/usr/share/fonts/truetype/dejavu",
                                  "/usr/share/fonts/inter",
                                  "/usr/share/fonts/dejavu",
                                  "/usr/share/fonts/TTF",
                                  "/usr/local/share/fonts"};
    if (const std::string home = variable("HOME"); !home.empty()) {
        folders.push_back(fs::path(home) / ".local/share/fonts");
        folders.push_back(fs::path(home) / ".fonts");
    }
    std::error_code ignored;
    for (const std::string& name : names)
        for (const fs::path& folder : folders)
            if (fs::is_regular_file(folder / name, ignored)) return (folder / name).string();
    return {};
}

std::unique_ptr<FigureFont> load(const std::vector<std::string>& names) {
    const std::string path = font_file(names);
    if (path.empty()) return nullptr;
    auto font = std::make_unique<FigureFont>();
    font->bytes = read_file(path, uint64_t{64} << 20);
    const auto* const data = reinterpret_cast<const unsigned char*>(font->bytes.data());
    if (stbtt_InitFont(&font->info, data, stbtt_GetFontOffsetForIndex(data, 0)) == 0)
        return nullptr;
    return font;
}

// The next character of UTF-8 text; U+FFFD for what is not.
int next_character(std::string_view words, size_t& at) {
    const auto byte = [&](size_t i) {
        return i < words.size() ? static_cast<uint8_t>(words[i]) : uint8_t{0};
    };
    const uint8_t first = byte(at++);
    if (first < 0x80) return first;
    const int more = first >= 0xF0 ? 3 : first >= 0xE0 ? 2 : first >= 0xC0 ? 1 : 0;
    int character = first & (0x3F >> more);
    if (more == 0) return 0xFFFD;
    for (int i = 0; i < more; ++i) {
        if ((byte(at) & 0xC0U) != 0x80U) return 0xFFFD;
        character = character << 6 | (byte(at++) & 0x3F);
    }
    return character;
}

}  // namespace

struct GlyphSource::Impl {
    std::unique_ptr<FigureFont> regular, bold, other;

    // The first of the faces that has the character; nullptr: none.
    [[nodiscard]] const FigureFont* face_of(int character, bool is_bold) const {
        const FigureFont* const wanted = is_bold && bold ? bold.get() : regular.get();
        for (const FigureFont* font : {wanted, static_cast<const FigureFont*>(other.get())})
            if (font && stbtt_FindGlyphIndex(&font->info, character) != 0) return font;
        return nullptr;
    }

    [[nodiscard]] double advance(int character, const TextMark& mark) const {
        const FigureFont* const font = face_of(character, mark.is_bold);
        if (!font) return 0;
        int width = 0, bearing = 0;
        stbtt_GetCodepointHMetrics(&font->info, character, &width, &bearing);
        return width * double{stbtt_ScaleForMappingEmToPixels(&font->info, 1)} * mark.size;
    }

    [[nodiscard]] GlyphPixels letter(int character, const TextMark& mark, DrawPoint pen,
                                     double scale) const {
        const FigureFont* const font = face_of(character, mark.is_bold);
        if (!font) return {};
        const float em =
            stbtt_ScaleForMappingEmToPixels(&font->info, static_cast<float>(mark.size * scale));
        const double x = std::floor(pen.x * scale), y = std::round(pen.y * scale);
        const auto shift = static_cast<float>(pen.x * scale - x);
        const int glyph = stbtt_FindGlyphIndex(&font->info, character);
        GlyphPixels out;
        int right = 0, bottom = 0;
        stbtt_GetGlyphBitmapBoxSubpixel(&font->info, glyph, em, em, shift, 0, &out.x, &out.y,
                                        &right, &bottom);
        out.width = right - out.x;
        out.height = bottom - out.y;
        if (out.width <= 0 || out.height <= 0) return {};
        out.coverage.resize(static_cast<size_t>(out.width) * static_cast<size_t>(out.height));
        stbtt_MakeGlyphBitmapSubpixel(&font->info, out.coverage.data(), out.width, out.height,
                                      out.width, em, em, shift, 0, glyph);
        out.x += static_cast<int>(x);
        out.y += static_cast<int>(y);
        return out;
    }
};

GlyphSource::GlyphSource() : impl_(std::make_unique<Impl>()) {
    impl_->other = load({"DejaVuSans.ttf"});
    impl_->regular = load({"Inter-Regular.otf", "Inter-Regular.ttf"});
    impl_->bold = load({"Inter-SemiBold.otf", "Inter-SemiBold.ttf"});
    if (!impl_->regular) impl_->regular = load({"DejaVuSans.ttf"});
    if (!impl_->regular)
        fail(
            "no font for the words of a PNG figure: install fonts-inter or fonts-dejavu-core, or "
            "write .svg, which needs none");
}

GlyphSource::~GlyphSource() = default;

std::vector<GlyphPixels> GlyphSource::letters(const TextMark& mark, double scale) const {
    std::vector<int> characters;
    for (size_t at = 0; at < mark.words.size();)
        characters.push_back(next_character(mark.words, at));
    double width = 0;
    for (const int character : characters) width += impl_->advance(character, mark);
    const double before = mark.anchor == DrawAnchor::start    ? 0
                          : mark.anchor == DrawAnchor::middle ? width / 2
                                                              : width;
    DrawPoint pen{mark.at.x - before, mark.at.y};
    std::vector<GlyphPixels> out;
    for (const int character : characters) {
        GlyphPixels pixels = impl_->letter(character, mark, pen, scale);
        if (!pixels.coverage.empty()) out.push_back(std::move(pixels));
        pen.x += impl_->advance(character, mark);
    }
    return out;
}

}  // namespace aft
