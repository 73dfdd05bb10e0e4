// The picture of a window that is drawn on the processor: it stays from frame to frame, and each
// draws only what differs (damage.h). Window thread, its context current, destructor included.
#pragma once
#include "viz/damage.h"
#include "viz/gl/framebuffer.h"

namespace aft::viz {

class Canvas {
  public:
    // False: nothing differs. Clips `data`. `repainted`: as in damage.h.
    bool draw(ImDrawData& data, std::span<const ImTextureID> repainted);
    void show() const;  // into the window's own buffer, all of it: a swap may leave anything there
    [[nodiscard]] const gl::Framebuffer& picture() const { return picture_; }
    [[nodiscard]] const Damage& damage() const { return damage_; }

  private:
    Damage damage_;
    gl::Framebuffer picture_;
};

}  // namespace aft::viz
