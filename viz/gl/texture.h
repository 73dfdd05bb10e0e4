// A 2-d OpenGL texture, move-only. Window thread with its context current, destructor included.
#pragma once
#include <cstdint>
#include <span>

#include "core/images/image.h"

namespace aft::viz::gl {

struct Pixels {  // a rectangle of a texture
    int x = 0, y = 0, width = 0, height = 0;
};

enum class Filter { nearest, linear };

class Texture {
  public:
    Texture() = default;                           // no texture, id 0
    static Texture floats(int width, int height);  // R32F, nearest
    static Texture rgba(int width, int height, Filter filter = Filter::nearest);  // RGBA8
    ~Texture();
    Texture(Texture&& other) noexcept;
    Texture& operator=(Texture&& other) noexcept;

    void repeat() const;  // along x, outside of 0..1; without it the edge texels repeat
    void upload(const Pixels& at, std::span<const float> values) const;
    void upload(const Pixels& at, std::span<const uint8_t> rgba) const;

    [[nodiscard]] unsigned id() const { return id_; }
    [[nodiscard]] int width() const { return width_; }
    [[nodiscard]] int height() const { return height_; }

  private:
    Texture(int width, int height, int internal_format, Filter filter);
    void upload(const Pixels& at, unsigned format, const void* data) const;
    unsigned id_ = 0;
    int width_ = 0, height_ = 0;
};

[[nodiscard]] int max_texture_size();
// RGBA of any texture as it is now, row 0 at texture coordinate 0; empty where there is none.
// Blocks on the GPU.
[[nodiscard]] Image read_texture(unsigned id);

}  // namespace aft::viz::gl
