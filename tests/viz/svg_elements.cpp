#include "tests/viz/svg_elements.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "core/check.h"

namespace aft::viz {
namespace {

std::string resolved(std::string_view text) {
    static const std::map<std::string, char, std::less<>> kEntities = {
        {"amp", '&'}, {"lt", '<'}, {"gt", '>'}, {"quot", '"'}, {"apos", '\''}};
    std::string out;
    for (size_t i = 0; i < text.size(); ++i) {
        AFT_CHECK(text[i] != '<', "a bare < in \"{}\"", text);
        if (text[i] != '&') {
            out += text[i];
            continue;
        }
        const size_t end = text.find(';', i);
        AFT_CHECK(end != std::string_view::npos, "a bare & in \"{}\"", text);
        const auto found = kEntities.find(text.substr(i + 1, end - i - 1));
        AFT_CHECK(found != kEntities.end(), "an unknown entity in \"{}\"", text);
        out += found->second;
        i = end;
    }
    return out;
}

// `tag`: what stands between < and >, without a / at its end.
SvgElement element_of(std::string_view tag) {
    SvgElement out;
    const size_t name_end = std::min(tag.find_first_of(" \n"), tag.size());
    out.name = tag.substr(0, name_end);
    AFT_CHECK(!out.name.empty(), "a tag without a name");
    for (size_t at = tag.find_first_not_of(" \n", name_end); at < tag.size();
         at = tag.find_first_not_of(" \n", at)) {
        const size_t equals = tag.find("=\"", at);
        AFT_CHECK(equals != std::string_view::npos, "no attribute in <{}>", tag);
        const size_t end = tag.find('"', equals + 2);
        AFT_CHECK(end != std::string_view::npos, "an open attribute in <{}>", tag);
        const std::string key(tag.substr(at, equals - at));
        AFT_CHECK(key.find_first_of(" \"'") == std::string::npos, "{} in <{}>", key, tag);
        const bool is_new =
            out.attributes.emplace(key, resolved(tag.substr(equals + 2, end - equals - 2))).second;
        AFT_CHECK(is_new, "{} twice in <{}>", key, tag);
        at = end + 1;
    }
    return out;
}

std::string clip_id(const SvgElement& element) {
    const std::string url = element.at("clip-path");  // url(#ID)
    return url.size() > 6 ? url.substr(5, url.size() - 6) : std::string();
}

}  // namespace

std::string SvgElement::at(const std::string& key) const {
    const auto found = attributes.find(key);
    return found == attributes.end() ? std::string() : found->second;
}

double SvgElement::number(const std::string& key) const {
    const auto found = attributes.find(key);
    return found == attributes.end() ? -1e9 : std::strtod(found->second.c_str(), nullptr);
}

std::vector<SvgElement> svg_elements(std::string_view text) {
    const std::string_view head = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
    AFT_CHECK(text.substr(0, head.size()) == head, "no XML declaration");
    std::vector<SvgElement> out;
    std::vector<size_t> open;
    for (size_t at = head.size(); at < text.size();) {
        const size_t tag = std::min(text.find('<', at), text.size());
        const std::string words = resolved(text.substr(at, tag - at));
        if (!open.empty()) out[open.back()].words += words;
        if (tag == text.size()) break;
        const size_t end = text.find('>', tag);
        AFT_CHECK(end != std::string_view::npos, "an open tag");
        std::string_view inside = text.substr(tag + 1, end - tag - 1);
        at = end + 1;
        if (inside.starts_with('/')) {
            AFT_CHECK(!open.empty() && out[open.back()].name == inside.substr(1),
                      "<{}> closes nothing", inside);
            open.pop_back();
            continue;
        }
        const bool is_closed = inside.ends_with('/');
        if (is_closed) inside.remove_suffix(1);
        SvgElement element = element_of(inside);
        for (const size_t i : open) {
            element.above.push_back(out[i].name);
            if (element.clip.empty()) element.clip = clip_id(out[i]);
        }
        out.push_back(std::move(element));
        if (!is_closed) open.push_back(out.size() - 1);
    }
    AFT_CHECK(open.empty(), "<{}> is not closed", out[open.back()].name);
    return out;
}

std::vector<SvgElement> drawn_elements(std::string_view text, std::string_view name) {
    std::vector<SvgElement> out;
    for (SvgElement& element : svg_elements(text)) {
        const bool is_definition = element.above.size() > 1 && element.above[1] == "defs";
        if (element.name == name && !is_definition) out.push_back(std::move(element));
    }
    return out;
}

std::vector<SvgElement> drawn_rects(std::string_view text) {
    auto out = drawn_elements(text, "rect");
    AFT_CHECK(out.size() >= 2, "no grounds");
    out.erase(out.begin(), out.begin() + 2);
    return out;
}

Box place_of(const SvgElement& e) {
    const auto x = float(e.number("x")), y = float(e.number("y"));
    return {{x, y}, {x + float(e.number("width")), y + float(e.number("height"))}};
}

void expect_box(const Box& box, const Box& wanted, float within) {
    EXPECT_NEAR(box.low.x, wanted.low.x, within);
    EXPECT_NEAR(box.low.y, wanted.low.y, within);
    EXPECT_NEAR(box.high.x, wanted.high.x, within);
    EXPECT_NEAR(box.high.y, wanted.high.y, within);
}

std::string svg_of(Stage& stage, const std::function<void(ImDrawList&)>& draw,
                   const SvgShot& shot) {
    ImGuiStyle& style = ImGui::GetStyle();
    style.AntiAliasedLines = style.AntiAliasedLinesUseTex = style.AntiAliasedFill = shot.is_soft;
    for (int i = 0; i < 3; ++i) stage.frame([&] { draw(*ImGui::GetWindowDrawList()); });
    return draw_data_svg(*ImGui::GetDrawData(),
                         {shot.region.low, shot.region.high, stage.look.theme.pane, "a <title>"},
                         shot.read_texture);
}

}  // namespace aft::viz
