// Tiles: many small maps of one size in one float texture and one RGBA8 picture. A tile is painted
// again only when its values or its colours changed. Window thread; without a painter it keeps
// nothing and texture() is 0.
#pragma once
#include <imgui.h>

#include <cstdint>
#include <span>
#include <vector>

#include "core/images/colormap.h"
#include "viz/look.h"
#include "viz/painter.h"

namespace aft::viz {

struct MapData {                      // borrowed; row 0 on top
    std::span<const float> values{};  // [rows, columns]
    int64_t rows = 0, columns = 0;
    std::span<const uint8_t> hidden{};  // [rows, columns], 1 = not visible; empty = all visible
    uint64_t version = 0;               // another number = other contents
    std::span<const uint8_t> masked{};  // [rows, columns], 1 = hidden by a mask; empty = none
    std::span<const uint8_t> partly{};  // [rows, columns], 1 = some values of the cell are hidden
    [[nodiscard]] float at(int64_t row, int64_t column) const {
        return values[static_cast<size_t>(row * columns + column)];
    }
    [[nodiscard]] bool is_hidden(int64_t row, int64_t column) const {
        return !hidden.empty() && hidden[static_cast<size_t>(row * columns + column)] != 0;
    }
};

// Below a map whose hidden cells are transparent; over one, on cells of which a part is hidden. In
// the current window; `map` holds all cells, of which the clip rectangle shows some.
void draw_hidden_ground(const Look& look, const MapData& data, const Box& map);
void draw_partly_hidden(const Look& look, const MapData& data, const Box& map);

class Tiles {
  public:
    // Memory for `count` tiles of at most [rows, columns]. Keeps the contents if nothing changes.
    void resize(int count, int64_t rows, int64_t columns);
    // Copies the values if `data.version` is new, paints if anything is new. Cheap when it is not.
    void set(int tile, const MapData& data, const Coloring& coloring, const Look& look);
    // ImGui texture of all tiles; ImTextureID_Invalid without OpenGL.
    [[nodiscard]] ImTextureID texture() const;
    // Texture coordinates of the cells [row, row+rows) x [column, column+columns) of a tile.
    [[nodiscard]] Box uv(int tile, const Box& cells) const;
    [[nodiscard]] int painted() const { return painted_; }  // tiles painted so far, for tests

  private:
    struct Tile {
        uint64_t version = 0;
        int64_t rows = 0, columns = 0;
        PaintColors colors;
        bool is_set = false;
    };
    [[nodiscard]] gl::Pixels place(int tile) const;
    void make_textures();
    void upload(int tile, const MapData& data);

    int64_t rows_ = 0, columns_ = 0;
    int across_ = 1, painted_ = 0;
    std::vector<Tile> tiles_;
    gl::Texture values_;
    gl::Framebuffer colors_;
};

}  // namespace aft::viz
