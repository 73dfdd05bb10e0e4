#include "viz/gl/texture.h"

#include <utility>

#include "core/check.h"
#include "viz/gl/api.h"

namespace aft::viz::gl {

Texture::Texture(int width, int height, int internal_format, Filter filter)
    : width_(width), height_(height) {
    AFT_CHECK(
        width > 0 && height > 0 && width <= max_texture_size() && height <= max_texture_size(),
        "a picture of {} x {} does not fit into an OpenGL texture (1 to {} per side)", width,
        height, max_texture_size());
    int before = 0;
    glGetIntegerv(GL_TEXTURE_BINDING_2D, &before);
    glGenTextures(1, &id_);
    glBindTexture(GL_TEXTURE_2D, id_);
    const bool is_float = internal_format == GL_R32F;
    glTexImage2D(GL_TEXTURE_2D, 0, internal_format, width, height, 0, is_float ? GL_RED : GL_RGBA,
                 is_float ? GL_FLOAT : GL_UNSIGNED_BYTE, nullptr);
    const int mode = filter == Filter::linear ? GL_LINEAR : GL_NEAREST;
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, mode);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, mode);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_S, GL_CLAMP_TO_EDGE);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_T, GL_CLAMP_TO_EDGE);
    glBindTexture(GL_TEXTURE_2D, static_cast<unsigned>(before));
}

Texture Texture::floats(int width, int height) {
    return {width, height, GL_R32F, Filter::nearest};
}

Texture Texture::rgba(int width, int height, Filter filter) {
    return {width, height, GL_RGBA8, filter};
}

Texture::~Texture() {
    if (id_ != 0) glDeleteTextures(1, &id_);
}

Texture::Texture(Texture&& other) noexcept
    : id_(std::exchange(other.id_, 0)), width_(other.width_), height_(other.height_) {}

Texture& Texture::operator=(Texture&& other) noexcept {
    std::swap(id_, other.id_);
    std::swap(width_, other.width_);
    std::swap(height_, other.height_);
    return *this;
}

void Texture::repeat() const {
    int before = 0;
    glGetIntegerv(GL_TEXTURE_BINDING_2D, &before);
    glBindTexture(GL_TEXTURE_2D, id_);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_S, GL_REPEAT);
    glBindTexture(GL_TEXTURE_2D, static_cast<unsigned>(before));
}

void Texture::upload(const Pixels& at, unsigned format, const void* data) const {
    AFT_ASSERT(at.x >= 0 && at.y >= 0 && at.x + at.width <= width_ && at.y + at.height <= height_);
    int before = 0;
    glGetIntegerv(GL_TEXTURE_BINDING_2D, &before);
    glBindTexture(GL_TEXTURE_2D, id_);
    glPixelStorei(GL_UNPACK_ALIGNMENT, 1);
    glTexSubImage2D(GL_TEXTURE_2D, 0, at.x, at.y, at.width, at.height, format,
                    format == GL_RED ? GL_FLOAT : GL_UNSIGNED_BYTE, data);
    glBindTexture(GL_TEXTURE_2D, static_cast<unsigned>(before));
}

void Texture::upload(const Pixels& at, std::span<const float> values) const {
    AFT_ASSERT(values.size() == size_t(at.width) * size_t(at.height));
    upload(at, GL_RED, values.data());
}

void Texture::upload(const Pixels& at, std::span<const uint8_t> rgba) const {
    AFT_ASSERT(rgba.size() == size_t(at.width) * size_t(at.height) * 4);
    upload(at, GL_RGBA, rgba.data());
}

int max_texture_size() {
    int size = 0;
    glGetIntegerv(GL_MAX_TEXTURE_SIZE, &size);
    return size;
}

Image read_texture(unsigned id) {
    int before = 0, width = 0, height = 0;
    glGetIntegerv(GL_TEXTURE_BINDING_2D, &before);
    glBindTexture(GL_TEXTURE_2D, id);
    glGetTexLevelParameteriv(GL_TEXTURE_2D, 0, GL_TEXTURE_WIDTH, &width);
    glGetTexLevelParameteriv(GL_TEXTURE_2D, 0, GL_TEXTURE_HEIGHT, &height);
    Image out{width, height, 4, std::vector<uint8_t>(size_t(width) * size_t(height) * 4)};
    glPixelStorei(GL_PACK_ALIGNMENT, 1);
    if (!out.pixels.empty())
        glGetTexImage(GL_TEXTURE_2D, 0, GL_RGBA, GL_UNSIGNED_BYTE, out.pixels.data());
    glBindTexture(GL_TEXTURE_2D, static_cast<unsigned>(before));
    return out;
}

}  // namespace aft::viz::gl
