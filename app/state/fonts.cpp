#include "app/state/fonts.h"

#include <imgui_internal.h>

#include <filesystem>

#include "core/environment.h"

namespace aft::app {

namespace {

// Folders of the Debian packages first, then of other distributions and the user's own.
std::string find_font(const std::vector<std::string>& names) {
    std::vector<std::string> folders = {"/usr/share/fonts/opentype/inter",
                                        "/usr/share/fonts/truetype/jetbrains-mono",
                                        "/usr/share/fonts/truetype/material-design-icons-iconfont",
                                        "/usr/share/fonts/truetype/dejavu",
                                        "/usr/share/fonts/inter",
                                        "/usr/share/fonts/jetbrains-mono",
                                        "/usr/share/fonts/dejavu",
                                        "/usr/share/fonts/TTF",
                                        "/usr/local/share/fonts"};
    if (const std::string home = variable("HOME"); !home.empty()) {
        folders.push_back(home + "/.local/share/fonts");
        folders.push_back(home + "/.fonts");
    }
    std::error_code ignored;
    for (const std::string& name : names)
        for (const std::string& folder : folders)
            if (std::filesystem::is_regular_file(folder + "/" + name, ignored))
                return folder + "/" + name;
    return {};
}

// Digits and the minus sign get one width: 0.536 of the size fits Inter's widest digit.
// Inter fills the private area with letters of its own: that area belongs to the icons.
constexpr ImWchar kDigits[] = {'0', '9', '+', '+', 0x2212, 0x2212, 0xE000, 0xF8FF, 0};
constexpr ImWchar kNotDigits[] = {0x20, '*', ',', '/', ':', 0x2211, 0x2213, 0xFFFF, 0};
constexpr float kDigitWidth = 0.536f;
constexpr float kReferenceSize = 16;

void add_tabular(ImFontAtlas& atlas, const std::string& path, const char* name) {
    ImFontConfig plain;
    std::snprintf(plain.Name, sizeof plain.Name, "%s", name);
    plain.GlyphExcludeRanges = kDigits;
    plain.SizePixels = kReferenceSize;
    atlas.AddFontFromFileTTF(path.c_str(), 0, &plain);
    ImFontConfig digits;
    digits.MergeMode = true;
    digits.GlyphExcludeRanges = kNotDigits;
    digits.SizePixels = kReferenceSize;
    digits.GlyphMinAdvanceX = digits.GlyphMaxAdvanceX = kDigitWidth * kReferenceSize;
    atlas.AddFontFromFileTTF(path.c_str(), 0, &digits);
}

// Icons come from Material; Greek, arrows and mathematical signs that the face itself lacks from
// DejaVu.
void merge_rest(ImFontAtlas& atlas, const std::string& fallback, const std::string& icons) {
    if (!icons.empty()) {
        static constexpr ImWchar kNoIcons[] = {0x20, 0xDFFF, 0};
        ImFontConfig config;
        config.MergeMode = true;
        config.SizePixels = kReferenceSize;
        config.GlyphExcludeRanges = kNoIcons;
        config.GlyphOffset = {0, kReferenceSize * 0.06f};
        atlas.AddFontFromFileTTF(icons.c_str(), 0, &config);
    }
    if (!fallback.empty()) {
        ImFontConfig config;
        config.MergeMode = true;
        config.SizePixels = kReferenceSize;
        atlas.AddFontFromFileTTF(fallback.c_str(), 0, &config);
    }
}

struct FaceFiles {
    const char* name;
    std::vector<std::string> files;
    bool tabular;
};

ImFont* load_face(ImFontAtlas& atlas, const FaceFiles& face, std::vector<std::string>& missing) {
    static const std::string kFallback = find_font({"DejaVuSans.ttf"});
    static const std::string kIcons = find_font({"MaterialIcons-Regular.ttf"});
    const int first = atlas.Fonts.Size;
    std::string path = find_font(face.files);
    if (path.empty()) {
        missing.push_back(face.files.front());
        path = kFallback;
    }
    if (path.empty()) {
        atlas.AddFontDefault();
    } else if (face.tabular) {
        add_tabular(atlas, path, face.name);
    } else {
        ImFontConfig config;
        config.SizePixels = kReferenceSize;
        std::snprintf(config.Name, sizeof config.Name, "%s", face.name);
        atlas.AddFontFromFileTTF(path.c_str(), 0, &config);
    }
    merge_rest(atlas, kFallback, kIcons);
    return atlas.Fonts[first];
}

}  // namespace

Fonts load_fonts(ImFontAtlas& atlas, std::vector<std::string>& missing) {
    Fonts fonts;
    fonts.regular =
        load_face(atlas, {"Inter", {"Inter-Regular.otf", "Inter-Regular.ttf"}, true}, missing);
    fonts.medium =
        load_face(atlas, {"Inter Medium", {"Inter-Medium.otf", "Inter-Medium.ttf"}, true}, missing);
    fonts.semibold = load_face(
        atlas, {"Inter SemiBold", {"Inter-SemiBold.otf", "Inter-SemiBold.ttf"}, true}, missing);
    fonts.mono = load_face(
        atlas, {"JetBrains Mono", {"JetBrainsMono-Regular.ttf", "DejaVuSansMono.ttf"}, false},
        missing);
    if (find_font({"MaterialIcons-Regular.ttf"}).empty())
        missing.push_back("MaterialIcons-Regular.ttf");
    return fonts;
}

FontScope::FontScope(const Fonts& fonts, Face face, float size)
    : depth_(ImGui::GetCurrentContext()->FontStack.Size) {
    ImGui::PushFont(fonts.face(face), size);
}

FontScope::~FontScope() {
    if (ImGui::GetCurrentContext()->FontStack.Size > depth_) ImGui::PopFont();
}

}  // namespace aft::app
