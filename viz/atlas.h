// Atlas: a grid of many maps out of one texture, painted when dirty; labels, marks, and a small bar
// with its range at the end of each row. Layout and hit test are pure functions. Window thread.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "viz/look.h"
#include "viz/map.h"
#include "viz/tiles.h"

namespace aft::viz {

struct AtlasShape {
    int rows = 0, columns = 0;                // maps
    int64_t tile_rows = 0, tile_columns = 0;  // values of one map
    bool free_axes = false;                   // each axis takes its own whole zoom (bands)
    float row_label = 0, column_label = 0;    // space at the left and at the top, pixels
    float cell_label = 0;                     // space under each map, pixels
    float row_bar = 0;                        // space at the right end of a row, pixels
};

struct AtlasLayout {
    Zoom zoom;               // pixels per value
    ImVec2 origin{};         // of the first map, from the area's top left
    ImVec2 pitch{}, tile{};  // pixels from map to map; of one map
    ImVec2 size{};           // of everything; taller than the area = it scrolls
    [[nodiscard]] Box cell(int row, int column) const;
};

struct AtlasHit {
    int row = -1, column = -1;  // of the map
    MapCell cell{};             // in it
    [[nodiscard]] bool is_valid() const { return row >= 0; }
    [[nodiscard]] bool operator==(const AtlasHit&) const = default;
};

// Largest whole zoom at which all maps fit with a gap of 2; left-over space goes between the maps,
// at most a quarter of the pitch. At zoom 1 it may be taller than the area.
[[nodiscard]] AtlasLayout layout_atlas(const AtlasShape& shape, ImVec2 area, float scale);
[[nodiscard]] AtlasHit hit_atlas(const AtlasLayout& layout, const AtlasShape& shape, ImVec2 at);

struct AtlasCell {
    MapData data{};  // values empty = not there yet: hatched
    Coloring coloring{};
    std::string label{};  // under the map, with AtlasShape::cell_label
    std::string brief{};  // instead where the maps stand too close for it: "L3"
    // 0 .. 1: a small meter beside the label; < 0 = none. Drawn where all of the atlas fit:
    // AtlasReply::has_bars.
    double bar = -1;
    std::string bar_text{};  // at the meter's right; left out where it does not fit
    bool pinned = false, changed = false, dimmed = false;
};

struct AtlasView {
    const char* id = "atlas";
    AtlasShape shape{};
    std::span<const AtlasCell> cells{};  // row-major, may end inside the last row
    std::span<const std::string> row_labels{}, column_labels{};
    ImVec2 area{};
    int selected_row = -1, selected_column = -1;
    bool raise_selected_row = true;
    MapCell mark{};  // ringed in every map
};

// What stands under the maps: the same under all of them, as much as fits under the narrowest.
enum class AtlasCaption { full, label, brief };

struct AtlasReply {
    AtlasHit hovered, clicked, double_clicked;
    AtlasLayout layout;
    Box box;                // on screen
    bool has_bars = false;  // the meters are drawn
    AtlasCaption caption = AtlasCaption::full;
    int label_stride = 1;  // of brief captions, where not even they fit: every n-th
};

class Atlas {
  public:
    [[nodiscard]] AtlasReply draw(const AtlasView& view, const Look& look);
    [[nodiscard]] int painted() const { return tiles_.painted(); }

  private:
    Tiles tiles_;
};

}  // namespace aft::viz
