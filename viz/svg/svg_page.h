// SvgPage: an SVG document that grows by elements in their order. Elements that reach beyond their
// clip are grouped under clip paths; definitions that are alike are written once. Places are pixels
// from the upper left corner of the page. One owner, any thread.
#pragma once
#include <imgui.h>

#include <map>
#include <string>
#include <string_view>

#include "viz/look.h"

namespace aft::viz {

[[nodiscard]] Box overlap_of(const Box& a, const Box& b);
[[nodiscard]] bool has_area(const Box& box);
[[nodiscard]] Box grown(const Box& box, float by);

// fill="#RRGGBB", with fill-opacity where it is not opaque; `what`: fill, stroke or stop.
[[nodiscard]] std::string svg_paint(std::string_view what, ImU32 color);
[[nodiscard]] std::string svg_point(ImVec2 at);       // "12.5 7"
[[nodiscard]] std::string svg_place(const Box& box);  // x="" y="" width="" height=""

struct SvgTag {  // of a definition
    std::string name = {}, attributes = {}, content = {};
    [[nodiscard]] auto operator<=>(const SvgTag&) const = default;
};

struct SvgHead {
    std::string title = {};
    std::string attributes = {};  // of the root, which its elements inherit
    ImU32 ground = 0;             // transparent: none
};

class SvgPage {
  public:
    explicit SvgPage(ImVec2 size) : size_(size) {}

    // Adds nothing where `extent`, which the element covers, lies outside of `clip`.
    void add(std::string_view element, const Box& extent, const Box& clip);
    // Returns the id.
    std::string define(const SvgTag& tag);
    // The whole document; the page is then spent.
    [[nodiscard]] std::string finish(const SvgHead& head);

    [[nodiscard]] Box box() const { return {{0, 0}, size_}; }

  private:
    void enter(const std::string& clip_id);  // "": no clip

    ImVec2 size_;
    std::string body_, clip_id_;
    std::map<SvgTag, std::string> definitions_;
    std::string written_definitions_;
};

}  // namespace aft::viz
