// Where samples stand beside and below each other.
#pragma once
#include <imgui.h>

#include <cstddef>

namespace aft::app {

// Columns and whole display pixels per pixel of the pictures.
struct GridFit {
    int columns = 1, zoom = 1;
};
struct GridExtra {
    ImVec2 extra;     // that every picture takes beside itself
    float least = 0;  // width of a picture
};

// Of `count` pictures in an area: all at once where they can be read so; else in lines that one
// scrolls through.
[[nodiscard]] GridFit readable_grid(size_t count, ImVec2 picture, ImVec2 area,
                                    const GridExtra& extra);

}  // namespace aft::app
