#include "viz/canvas.h"

#include <imgui_impl_opengl3.h>

#include "viz/gl/api.h"

namespace aft::viz {
namespace {

// True if there were any: what shows them may look different though its triangles are the same.
bool upload_textures(const ImDrawData& data) {
    bool has_any = false;
    if (data.Textures == nullptr) return false;
    for (ImTextureData* one : *data.Textures) {
        if (one->Status == ImTextureStatus_OK) continue;
        ImGui_ImplOpenGL3_UpdateTexture(one);
        has_any = true;
    }
    return has_any;
}

}  // namespace

bool Canvas::draw(ImDrawData& data, std::span<const ImTextureID> repainted) {
    const int width = int(data.DisplaySize.x * data.FramebufferScale.x);
    const int height = int(data.DisplaySize.y * data.FramebufferScale.y);
    if (width <= 0 || height <= 0) {
        damage_.forget();  // what is painted meanwhile is not seen
        return false;
    }
    if (is_offscreen_ && (width != picture_.width() || height != picture_.height())) {
        picture_ = gl::Framebuffer(width, height);
        damage_.forget();
    }
    if (upload_textures(data)) damage_.forget();
    damage_.update(data, repainted);
    if (damage_.boxes().empty()) return false;
    damage_.cut(data);
    glBindFramebuffer(GL_FRAMEBUFFER, is_offscreen_ ? picture_.id() : 0);
    glViewport(0, 0, width, height);
    glEnable(GL_SCISSOR_TEST);
    glClearColor(0, 0, 0, 1);
    for (const Box& box : damage_.boxes()) {
        glScissor(int(box.low.x), height - int(box.high.y), int(box.width()), int(box.height()));
        glClear(GL_COLOR_BUFFER_BIT);
    }
    glDisable(GL_SCISSOR_TEST);
    ImGui_ImplOpenGL3_RenderDrawData(&data);
    glBindFramebuffer(GL_FRAMEBUFFER, 0);
    return true;
}

void Canvas::show() const {
    if (!is_offscreen_) return;
    const int width = picture_.width(), height = picture_.height();
    glBindFramebuffer(GL_READ_FRAMEBUFFER, picture_.id());
    glBindFramebuffer(GL_DRAW_FRAMEBUFFER, 0);
    glDisable(GL_SCISSOR_TEST);
    glBlitFramebuffer(0, 0, width, height, 0, 0, width, height, GL_COLOR_BUFFER_BIT, GL_NEAREST);
    glBindFramebuffer(GL_FRAMEBUFFER, 0);
}

}  // namespace aft::viz
