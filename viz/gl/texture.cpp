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

namespace {

void upload_pixels(const Texture& texture, const int (&at)[4], unsigned format, unsigned type,
                   const void* data) {
    AFT_ASSERT(at[0] >= 0 && at[1] >= 0 && at[0] + at[2] <= texture.width() &&
               at[1] + at[3] <= texture.height());
    int before = 0;
    glGetIntegerv(GL_TEXTURE_BINDING_2D, &before);
    glBindTexture(GL_TEXTURE_2D, texture.id());
    glPixelStorei(GL_UNPACK_ALIGNMENT, 1);
    glTexSubImage2D(GL_TEXTURE_2D, 0, at[0], at[1], at[2], at[3], format, type, data);
    glBindTexture(GL_TEXTURE_2D, static_cast<unsigned>(before));
}

}  // namespace

void Texture::upload(int x, int y, int width, int height, std::span<const float> values) const {
    AFT_ASSERT(values.size() == size_t(width) * size_t(height));
    upload_pixels(*this, {x, y, width, height}, GL_RED, GL_FLOAT, values.data());
}

void Texture::upload(int x, int y, int width, int height, std::span<const uint8_t> rgba) const {
    AFT_ASSERT(rgba.size() == size_t(width) * size_t(height) * 4);
    upload_pixels(*this, {x, y, width, height}, GL_RGBA, GL_UNSIGNED_BYTE, rgba.data());
}

int max_texture_size() {
    int size = 0;
    glGetIntegerv(GL_MAX_TEXTURE_SIZE, &size);
    return size;
}

}  // namespace aft::viz::gl
