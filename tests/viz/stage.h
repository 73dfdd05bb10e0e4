// Stage: Dear ImGui and ImPlot contexts for tests, with OpenGL (EGL, no display) where it is there
// and wanted. One frame = frame(draw); the pointer stands where `mouse` says.
#pragma once
#include <imgui.h>

#include <functional>
#include <memory>
#include <string>

#include "core/images/image.h"
#include "viz/gl/context.h"
#include "viz/gl/framebuffer.h"
#include "viz/look.h"
#include "viz/painter.h"

namespace aft::viz {

class Stage {
  public:
    enum class With { no_opengl, opengl };
    explicit Stage(With with, ThemeName theme = ThemeName::dark);
    ~Stage();
    Stage(const Stage&) = delete;
    Stage& operator=(const Stage&) = delete;

    void frame(const std::function<void()>& draw);  // inside one window that fills the display
    [[nodiscard]] Image picture() const;            // of the last frame; with OpenGL only
    void press(ImVec2 at, const std::function<void()>& draw);  // a whole click: several frames

    Look look;
    ImVec2 size = {800, 600}, mouse = {-10, -10};

  private:
    std::unique_ptr<gl::HeadlessContext> context_;
    std::unique_ptr<MapPainter> painter_;
    gl::Framebuffer target_;
};

// "" = OpenGL without a display is there; else why not, for GTEST_SKIP.
[[nodiscard]] std::string why_no_opengl();

}  // namespace aft::viz
