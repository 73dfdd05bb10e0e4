// OpenGL contexts: what the current one is, whether it is new enough, and one without a display
// (EGL surfaceless) for pictures. The thread that makes a headless context current must also
// destroy it.
#pragma once
#include <string>

namespace aft::viz::gl {

struct OpenGlInfo {
    int major = 0, minor = 0;
    std::string version, renderer;  // as the driver names them
    bool is_software = false;       // llvmpipe, softpipe, swrast: refresh maps less often
};

[[nodiscard]] OpenGlInfo opengl_info();  // of the current context; major 0 = none is current
// Throws "OpenGL too old (found 2.1, needed 3.3)" with the remedy.
void check_opengl_version(int major, int minor);

class HeadlessContext {
  public:
    HeadlessContext();  // core 3.3, made current. Throws "no OpenGL: ..." with the remedy.
    ~HeadlessContext();
    HeadlessContext(HeadlessContext&& other) noexcept;
    HeadlessContext& operator=(HeadlessContext&&) = delete;
    HeadlessContext(const HeadlessContext&) = delete;

    // Every few frames: without a display nothing else makes the driver draw, and it would keep all
    // that was given to it. Waits for the drawing.
    void finish() const;

  private:
    void* display_ = nullptr;
    void* context_ = nullptr;
};

}  // namespace aft::viz::gl
