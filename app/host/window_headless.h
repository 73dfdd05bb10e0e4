// HeadlessStage: the window drawn into a picture, through EGL without a display. Main thread.
#pragma once
#include <filesystem>
#include <memory>

#include "app/host/stage.h"
#include "core/images/image.h"

namespace aft::app {

class HeadlessStage {
  public:
    // width and height in pixels; scale: of the interface. Throws with the remedy if there is no
    // OpenGL.
    HeadlessStage(FrameOptions options, int width, int height);
    ~HeadlessStage();
    void step();  // one frame; its time advances by 1/60 s (pictures do not depend on speed)
    void resize(int width, int height);
    [[nodiscard]] Image picture() const;  // of the last frame
    [[nodiscard]] Frame& frame();
    [[nodiscard]] Ui& ui() { return frame().ui(); }

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace aft::app
