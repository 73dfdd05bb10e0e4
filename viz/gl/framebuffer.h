// An RGBA8 picture that can be drawn into and read back, move-only. Window thread with its context
// current, destructor included.
#pragma once
#include "core/images/image.h"
#include "viz/gl/texture.h"

namespace aft::viz::gl {

class Framebuffer {
  public:
    Framebuffer() = default;  // nothing, id 0
    Framebuffer(int width, int height);
    ~Framebuffer();
    Framebuffer(Framebuffer&& other) noexcept;
    Framebuffer& operator=(Framebuffer&& other) noexcept;

    void bind() const;                              // as the draw target, viewport = all of it
    void clear(uint32_t color, float alpha) const;  // binds it
    // RGB; flip = true when it was drawn as a window is (row 0 at the bottom). Blocks on the GPU.
    [[nodiscard]] Image read(bool flip) const;

    [[nodiscard]] unsigned id() const { return id_; }
    [[nodiscard]] const Texture& texture() const { return color_; }
    [[nodiscard]] int width() const { return color_.width(); }
    [[nodiscard]] int height() const { return color_.height(); }

  private:
    unsigned id_ = 0;
    Texture color_;
};

// Remembers the bound framebuffer and viewport, and binds them again at the end of the scope.
class KeepTarget {
  public:
    KeepTarget();
    ~KeepTarget();
    KeepTarget(const KeepTarget&) = delete;
    KeepTarget& operator=(const KeepTarget&) = delete;

  private:
    int framebuffer_ = 0;
    int viewport_[4] = {};
};

}  // namespace aft::viz::gl
