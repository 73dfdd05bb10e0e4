// Elements of an SVG document as tests look at them: a small parser that fails on what is not well
// formed, and a scene of Dear ImGui as a document.
#pragma once
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "tests/viz/stage.h"
#include "viz/svg/draw_svg.h"

namespace aft::viz {

struct SvgElement {
    std::string name = {};
    std::map<std::string, std::string> attributes = {};
    std::string words = {};               // of its own, entities resolved
    std::vector<std::string> above = {};  // names of the elements that hold it, the root first
    std::string clip = {};                // the id of the clip that holds it, "" if none

    [[nodiscard]] std::string at(const std::string& key) const;  // "" where there is none
    [[nodiscard]] double number(const std::string& key) const;   // -1e9 where there is none
};

// In the order of their beginnings. Throws Error where tags, attributes or entities are not those
// of well formed XML.
[[nodiscard]] std::vector<SvgElement> svg_elements(std::string_view text);
// Those of a name that are drawn: not in <defs>.
[[nodiscard]] std::vector<SvgElement> drawn_elements(std::string_view text, std::string_view name);

// The rectangles but the ground of the page and that of the stage's window.
[[nodiscard]] std::vector<SvgElement> drawn_rects(std::string_view text);
[[nodiscard]] Box place_of(const SvgElement& element);  // x, y, width and height
void expect_box(const Box& box, const Box& wanted, float within);

struct SvgShot {
    Box region{{0, 0}, {800, 600}};
    bool is_soft = false;  // with soft edges
    std::function<Image(ImTextureID)> read_texture = [](ImTextureID) { return Image{}; };
};
// The third frame of `draw`, so that the atlas knows all letters.
[[nodiscard]] std::string svg_of(Stage& stage, const std::function<void(ImDrawList&)>& draw,
                                 const SvgShot& shot = {});

}  // namespace aft::viz
