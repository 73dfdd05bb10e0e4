// The real window: GLFW and OpenGL 3.3, drawn on demand. Three frames after input, then it sleeps
// until input or until a session wakes it. Main thread only.
#pragma once
#include <functional>
#include <memory>
#include <stop_token>
#include <string>

#include "app/frame/frame.h"
#include "core/images/image.h"

struct GLFWwindow;

namespace aft::app {

struct WindowOptions {
    std::string device = "cpu";
    RankGroup* ranks = nullptr;
    int width = 0, height = 0;  // 0 = three quarters of the display
    std::stop_token stop;       // Ctrl-C: save and close
    // Called before every frame (scripts); true = draw the next one at once.
    std::function<bool(Frame&)> before_frame{};
    bool remember = true;  // load and save the user's settings
};

class Window {
  public:
    // Throws with the remedy: no display, no OpenGL, too old.
    explicit Window(WindowOptions options);
    ~Window();
    void run();  // until it is closed
    // Closing was asked for and cannot be done yet: a toast says what would be lost; run()
    // continues.
    void stay_open(const UnsavedSteps& unsaved);
    [[nodiscard]] Frame& frame();
    [[nodiscard]] Image picture() const;  // of the last frame

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace aft::app
