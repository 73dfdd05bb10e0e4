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
    void forget() { damage_.forget(); }  // the next frame draws everything

    // From now on straight into the window's own buffer. Only where a swap leaves in it what it
    // showed: else its picture is kept aside, and show() copies all of it (4 ms at 1280x800).
    void draw_into_window() { is_offscreen_ = false; }
    void show() const;
    [[nodiscard]] const gl::Framebuffer& picture() const { return picture_; }
    [[nodiscard]] const Damage& damage() const { return damage_; }

  private:
    Damage damage_;
    gl::Framebuffer picture_;
    bool is_offscreen_ = true;
};

}  // namespace aft::viz
