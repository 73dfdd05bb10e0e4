// One map: a matrix as one textured quad at whole pixels per value, with axis numbers, marks, hatch
// and numbers in its cells. Keeps zoom, scroll and the texture from frame to frame. Window thread,
// inside a Dear ImGui window.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "viz/look.h"
#include "viz/tiles.h"

namespace aft::viz {

struct MapCell {
    int64_t row = -1, column = -1;
    [[nodiscard]] bool is_valid() const { return row >= 0 && column >= 0; }
    [[nodiscard]] bool operator==(const MapCell&) const = default;
};

struct MapRegion {  // both ends are part of it
    MapCell first{}, last{};
    [[nodiscard]] bool is_valid() const { return first.is_valid() && last.is_valid(); }
    [[nodiscard]] bool operator==(const MapRegion&) const = default;
};

struct Zoom {  // whole pixels per value
    int across = 1, down = 1;
    [[nodiscard]] int least() const { return across < down ? across : down; }
    [[nodiscard]] bool operator==(const Zoom&) const = default;
};

using AxisLabel = std::function<std::string(int64_t)>;  // "" = no label at this index

struct MapView {  // everything about one frame of a map
    const char* id = "map";
    MapData data{};
    Coloring coloring{};
    ImVec2 area{};  // space for the map and its axis numbers
    int zoom = 0;   // pixels per value; 0 = what the user chose, or else the largest that fits
    bool free_axes = false;  // each axis takes the largest whole zoom that fits it (bands)
    int max_fit = 128;       // a small map is not drawn larger than this by itself, at scale 1
    AxisLabel row_label{}, column_label{};      // unset = no axis numbers on that side
    int64_t row_step = 0, column_step = 0;      // labels at multiples of this, 0 = 1, 2, 5, 10, ...
    int64_t row_origin = 0, column_origin = 0;  // counted from this cell, that of offset 0 say
    std::string corner{};                       // "dy\dx"
    bool numbers = true;                        // in cells from 44 px up
    bool is_signed = false;                     // numbers always with their sign
    MapCell target{}, source{}, pinned{};       // accent ring, white ring, pin
    bool row_band = false, cross_hair = false;  // outline the target's row; row and column lines
    MapRegion region{};                         // accent outline
    bool selects = false;                       // a left drag chooses a region, it does not scroll
    bool dimmed = false;                        // an old picture while the new one is on its way
    ImTextureID under = ImTextureID_Invalid;    // a picture of the whole map, drawn below it
    float strength = 1;                         // opacity of the map over that picture
};

struct MapReply {
    MapCell hovered{}, clicked{}, double_clicked{};
    Box map;                      // on screen, as far as it is inside the area
    Zoom zoom;                    // pixels per value
    bool zoomed = false;          // by wheel or drag, in this frame
    MapRegion region{};           // that is being dragged; a press alone is one cell
    bool is_region_done = false;  // the button was let go in this frame
};

// What a map shows of itself; maps of one size that share it move together.
struct MapViewport {
    int zoom = 0;             // as it was chosen; 0 = fit
    float left = 0, top = 0;  // scroll, in pixels
    [[nodiscard]] bool operator==(const MapViewport&) const = default;
};

struct MapPlace;  // viz/map_parts.h

class Map {
  public:
    [[nodiscard]] MapReply draw(const MapView& view, const Look& look);
    void set_zoom(int zoom) { zoom_ = zoom; }  // 0 = fit
    [[nodiscard]] int zoom() const { return zoom_; }
    [[nodiscard]] MapViewport viewport() const { return {zoom_, left_, top_}; }
    void set_viewport(const MapViewport& view) {
        zoom_ = view.zoom;
        left_ = view.left;
        top_ = view.top;
    }
    void show(MapCell cell) { shown_ = cell; }  // scrolls it to the middle, once

  private:
    void handle_input(const MapView& view, ImVec2 area, int largest, MapReply& reply);
    void select_region(const MapView& view, const MapPlace& place, MapReply& reply);
    int zoom_ = 0;
    float left_ = 0, top_ = 0;  // scroll, in pixels
    MapCell shown_;             // to be scrolled to
    MapCell pressed_;           // where a region begins
    Tiles tiles_;
};

// Pixels per value so that [rows, columns] fits: the largest whole number, at least 1.
[[nodiscard]] int fit_zoom(ImVec2 area, int64_t rows, int64_t columns, int largest);
// Both axes of a map in its area: `wanted` pixels per value, 0 = as many as fit. Free axes never
// become smaller than what fits, so that the shorter one stays whole in view.
[[nodiscard]] Zoom map_zoom(const MapView& view, ImVec2 area, int wanted, int largest);
// Values per block so that `values` fit into `pixels` at one pixel a block: 1, 2, 3, ...
[[nodiscard]] int64_t block_size(int64_t values, float pixels);
// The same, but larger blocks (at most twice as large) where the smallest would leave much of the
// axis empty: 768 values in 600 pixels are 256 blocks of 3, two pixels each, and not 384 of 2.
[[nodiscard]] int64_t filling_block(int64_t values, float pixels);

}  // namespace aft::viz
