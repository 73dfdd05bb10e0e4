// GlfwWindow: the operating system's window with a core 3.3 context, move-only resource. Main
// thread.
#pragma once
#include <string>

#include "model/status.h"

struct GLFWwindow;

namespace aft::app {

class GlfwWindow {
  public:
    GlfwWindow(int width,
               int height);  // 0 = three quarters of the display. Throws with the remedy.
    ~GlfwWindow();
    GlfwWindow(const GlfwWindow&) = delete;
    GlfwWindow& operator=(const GlfwWindow&) = delete;
    [[nodiscard]] GLFWwindow* get() const { return window_; }
    [[nodiscard]] float content_scale() const;
    // At each frame. Where training has ended or met an error while another window has the
    // keyboard, the task bar says so.
    void note_training(const Status& status);

  private:
    GLFWwindow* window_ = nullptr;
    RunState last_state_ = RunState::empty;
};

// X11 ends the program where its display goes away: `act` is called before, in the middle of
// whatever spoke to the display. Needs a window; does nothing under Wayland, where the window is
// closed like any other.
void on_display_lost(void (*act)());

}  // namespace aft::app
