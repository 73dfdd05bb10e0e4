#include "viz/gl/framebuffer.h"

#include <algorithm>
#include <utility>

#include "core/check.h"
#include "viz/gl/api.h"

namespace aft::viz::gl {

Framebuffer::Framebuffer(int width, int height) : color_(Texture::rgba(width, height)) {
    const KeepTarget keep;
    glGenFramebuffers(1, &id_);
    glBindFramebuffer(GL_FRAMEBUFFER, id_);
    glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, color_.id(), 0);
    const unsigned status = glCheckFramebufferStatus(GL_FRAMEBUFFER);
    AFT_CHECK(status == GL_FRAMEBUFFER_COMPLETE,
              "OpenGL cannot draw into a picture of {} x {} (status {:#x})", width, height, status);
    clear(0, 0);
}

Framebuffer::~Framebuffer() {
    if (id_ != 0) glDeleteFramebuffers(1, &id_);
}

Framebuffer::Framebuffer(Framebuffer&& other) noexcept
    : id_(std::exchange(other.id_, 0)), color_(std::move(other.color_)) {}

Framebuffer& Framebuffer::operator=(Framebuffer&& other) noexcept {
    std::swap(id_, other.id_);
    std::swap(color_, other.color_);
    return *this;
}

void Framebuffer::bind() const {
    glBindFramebuffer(GL_FRAMEBUFFER, id_);
    glViewport(0, 0, width(), height());
}

void Framebuffer::clear(uint32_t color, float alpha) const {
    bind();
    glDisable(GL_SCISSOR_TEST);
    const auto part = [&](int shift) {
        return static_cast<float>((color >> shift) & 0xFF) / 255.0F;
    };
    glClearColor(part(0), part(8), part(16), alpha);
    glClear(GL_COLOR_BUFFER_BIT);
}

Image Framebuffer::read(bool flip) const {
    const KeepTarget keep;
    bind();
    Image image{width(), height(), 3, {}};
    const size_t row = size_t(width()) * 3;
    image.pixels.resize(row * size_t(height()));
    glPixelStorei(GL_PACK_ALIGNMENT, 1);
    glReadPixels(0, 0, width(), height(), GL_RGB, GL_UNSIGNED_BYTE, image.pixels.data());
    for (int y = 0; flip && y < height() / 2; ++y) {
        auto* const top = image.pixels.data() + row * size_t(y);
        std::swap_ranges(top, top + row, image.pixels.data() + row * size_t(height() - 1 - y));
    }
    return image;
}

KeepTarget::KeepTarget() {
    glGetIntegerv(GL_DRAW_FRAMEBUFFER_BINDING, &framebuffer_);
    glGetIntegerv(GL_VIEWPORT, viewport_);
}

KeepTarget::~KeepTarget() {
    glBindFramebuffer(GL_FRAMEBUFFER, static_cast<unsigned>(framebuffer_));
    glViewport(viewport_[0], viewport_[1], viewport_[2], viewport_[3]);
}

}  // namespace aft::viz::gl
