// Where a frame of the window differs from the one before it, so that drawing on the processor
// draws only that: nearly all of such a frame's time goes into its pixels (12 of 14 ms at
// 1280x800). Window thread; plain numbers, no OpenGL. Order per frame: update(), then cut().
#pragma once
#include <imgui.h>

#include <cstdint>
#include <span>
#include <vector>

#include "viz/look.h"

namespace aft::viz {

class Damage {
  public:
    // Compares with the frame of the last call, triangle by triangle. `repainted`: textures whose
    // pixels are others than in the last frame. What cannot be compared counts as different.
    void update(const ImDrawData& data, std::span<const ImTextureID> repainted);
    void forget() { size_ = {}; }  // the next frame differs everywhere

    // In pixels of the window, from its upper left corner; do not overlap; empty: no difference.
    [[nodiscard]] const std::vector<Box>& boxes() const { return boxes_; }
    // Clips what the frame draws to boxes(): all else is as it was.
    void cut(ImDrawData& data) const;

  private:
    struct Triangle {
        uint64_t hash = 0;  // of corners, colours, clip and texture
        Box box;            // clipped
        bool is_repainted = false;
    };
    void read(const ImDrawData& data, std::span<const ImTextureID> repainted);
    [[nodiscard]] bool mark_differences();  // false: drawn in another order
    void mark(const Box& box);
    void collect(int rows);

    std::vector<Triangle> now_, before_;
    std::vector<const ImDrawList*> lists_, lists_before_;
    std::vector<Box> boxes_;
    ImVec2 size_{};  // of the last frame
    struct Grid {    // of tiles
        int across = 0, down = 0;
        std::vector<uint8_t> differs;  // row by row: 1 = differs
    } grid_;
    bool has_callback_ = false, is_whole_ = true;
};

}  // namespace aft::viz
