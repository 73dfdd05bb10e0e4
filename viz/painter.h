// Painter of maps: owns the shader program and the colour tables; turns a float texture into
// colours. One per OpenGL context, made by the window (or a headless context). Window thread, its
// context current.
#pragma once
#include <imgui.h>

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/images/colormap.h"
#include "viz/gl/framebuffer.h"
#include "viz/gl/program.h"
#include "viz/gl/texture.h"

namespace aft::viz {

// Stored in place of a value that nobody can see (the causal future): drawn transparent, so that
// the hatch under the map shows. Only inside textures; no caller passes it.
inline constexpr float kHidden = -3.4e38F;

struct PaintColors {
    Coloring coloring;
    ImU32 nan_color = 0;
    [[nodiscard]] bool operator==(const PaintColors&) const = default;
};

inline constexpr float kHatchPitch = 6, kHatchLine = 1.2F;  // across the lines, at scale 1

class MapPainter {
  public:
    MapPainter();  // reads shaders/map.vert and map.frag; throws with file and line

    // values -> target, texel by texel, inside `where`. Leaves the bound framebuffer as it was.
    void paint(const gl::Texture& values, const gl::Framebuffer& target, const gl::Pixels& where,
               const PaintColors& colors);
    // One period of a hatch, from the middle of a line to that of the next, that repeats; made once
    // for each pair of colours and scale.
    ImTextureID hatch(ImU32 ground, ImU32 line, float scale);
    void note(const gl::Texture& texture);  // it shows something else now, whoever drew that
    // The textures that do so since the last call.
    std::vector<ImTextureID> take_repainted() { return std::exchange(repainted_, {}); }

  private:
    gl::Program program_;
    std::array<gl::Texture, 5> tables_;  // 256 x 1, by Colormap
    std::vector<ImTextureID> repainted_;
    struct Hatch {
        ImU32 ground = 0, line = 0;
        float scale = 0;
        gl::Texture texture;
    };
    std::vector<Hatch> hatches_;
};

}  // namespace aft::viz
