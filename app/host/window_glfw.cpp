#include "app/host/window_glfw.h"

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>
#include <dlfcn.h>

#include <algorithm>
#include <utility>

#include "app/frame/layouts.h"
#include "core/caught.h"
#include "core/environment.h"
#include "viz/gl/context.h"

namespace aft::app {

namespace {

std::string last_glfw_words() {
    const char* words = nullptr;
    glfwGetError(&words);
    return words != nullptr ? words : "no reason given";
}

constexpr const char* kWithoutWindow =
    "Without a window: 'afterimage demo' trains and writes pictures, 'afterimage shot --all -o "
    "DIR' "
    "draws the window into files, 'afterimage --help' lists the commands";

// Where the place of Wayland's socket is not known, asking for it only prints an error of its
// library: X11 is asked at once.
bool has_x11_alone() {
    return variable("XDG_RUNTIME_DIR").empty() && !variable("DISPLAY").empty() &&
           !variable("WAYLAND_DISPLAY").starts_with('/');
}

void start_glfw() {
    glfwInitHint(GLFW_WAYLAND_LIBDECOR, GLFW_WAYLAND_PREFER_LIBDECOR);
    if (has_x11_alone()) glfwInitHint(GLFW_PLATFORM, GLFW_PLATFORM_X11);
    AFT_CHECK(has_display(), "no display: neither DISPLAY nor WAYLAND_DISPLAY is set. {}",
              kWithoutWindow);
    AFT_CHECK(glfwInit() == GLFW_TRUE, "the display cannot be opened: {}. {}", last_glfw_words(),
              kWithoutWindow);
}

// Which version there is, when 3.3 core was refused: too old, or none at all.
void explain_refusal(const std::string& words) {
    glfwDefaultWindowHints();
    glfwWindowHint(GLFW_VISIBLE, GLFW_FALSE);
    if (GLFWwindow* any = glfwCreateWindow(64, 64, "Afterimage", nullptr, nullptr)) {
        glfwMakeContextCurrent(any);
        const viz::gl::OpenGlInfo info = viz::gl::opengl_info();
        glfwDestroyWindow(any);
        viz::gl::check_opengl_version(info.major, info.minor);
    }
    const bool has_no_glx = words.find("GLX extension not found") != std::string::npos;
    fail("no OpenGL: the window cannot be made ({}). {}. {}", words,
         has_no_glx ? "Start the X server with its extension GLX, or use another display"
                    : "Update the graphics driver, or start with LIBGL_ALWAYS_SOFTWARE=1 to draw "
                      "on the processor",
         kWithoutWindow);
}

void default_size(int& width, int& height) {
    const GLFWvidmode* mode = nullptr;
    float scale = 1, ignored = 1;  // GLFW multiplies the size by it
    if (GLFWmonitor* monitor = glfwGetPrimaryMonitor()) {
        mode = glfwGetVideoMode(monitor);
        glfwGetMonitorContentScale(monitor, &scale, &ignored);
    }
    const auto units = [scale](int pixels) {
        return static_cast<int>(static_cast<float>(pixels) / std::max(1.0f, scale));
    };
    const int w = mode != nullptr ? units(mode->width) : 1600;
    const int h = mode != nullptr ? units(mode->height) : 1000;
    if (width <= 0) width = std::clamp(w * 3 / 4, std::min(w, 1280), 1920);
    if (height <= 0) height = std::clamp(h * 3 / 4, std::min(h, 800), 1200);
    if (mode == nullptr) return;
    width = std::min(width, std::max(w, kLeastWidth));  // of another display, perhaps
    height = std::min(height, std::max(h, kLeastHeight));
}

}  // namespace

GlfwWindow::GlfwWindow(int width, int height) {
    start_glfw();
    default_size(width, height);
    glfwWindowHint(GLFW_CONTEXT_VERSION_MAJOR, 3);
    glfwWindowHint(GLFW_CONTEXT_VERSION_MINOR, 3);
    glfwWindowHint(GLFW_OPENGL_PROFILE, GLFW_OPENGL_CORE_PROFILE);
    glfwWindowHint(GLFW_OPENGL_FORWARD_COMPAT, GLFW_TRUE);
    glfwWindowHint(GLFW_SCALE_TO_MONITOR, GLFW_TRUE);
    glfwWindowHintString(GLFW_X11_CLASS_NAME, "afterimage");
    glfwWindowHintString(GLFW_WAYLAND_APP_ID, "afterimage");
    window_ = glfwCreateWindow(width, height, "Afterimage", nullptr, nullptr);
    if (window_ == nullptr) {
        const std::string words = last_glfw_words();
        const OnFailure end_glfw([] { glfwTerminate(); });
        explain_refusal(words);
    }
    glfwMakeContextCurrent(window_);
    const viz::gl::OpenGlInfo info = viz::gl::opengl_info();
    glfwSetWindowSizeLimits(window_, kLeastWidth, kLeastHeight, GLFW_DONT_CARE, GLFW_DONT_CARE);
    // Software drawing gains nothing by waiting for the screen; a GPU should not tear.
    glfwSwapInterval(info.is_software ? 0 : 1);
}

GlfwWindow::~GlfwWindow() {
    glfwDestroyWindow(window_);
    glfwTerminate();
}

float GlfwWindow::content_scale() const {
    float x = 1, y = 1;
    glfwGetWindowContentScale(window_, &x, &y);
    // Where the framebuffer is larger than the window (Wayland), ImGui's units are not pixels.
    int width = 0, pixels = 0, ignored = 0;
    glfwGetWindowSize(window_, &width, &ignored);
    glfwGetFramebufferSize(window_, &pixels, &ignored);
    const float units = width > 0 ? static_cast<float>(pixels) / static_cast<float>(width) : 1;
    return std::clamp(std::max(x, y) / std::max(1.0f, units), 0.5f, 4.0f);
}

void GlfwWindow::note_training(const Status& status) {
    const RunState before = std::exchange(last_state_, status.state);
    const bool ends = status.state == RunState::stopped || status.state == RunState::error ||
                      (status.state == RunState::paused && !status.error.empty());
    if (before != RunState::running || !ends) return;
    if (glfwGetWindowAttrib(window_, GLFW_FOCUSED) == GLFW_FALSE)
        glfwRequestWindowAttention(window_);
}

namespace {

void (*display_lost)() = nullptr;

int report_display_lost(void*) {
    display_lost();
    return 0;
}

}  // namespace

void on_display_lost(void (*act)()) {
    if (glfwGetPlatform() != GLFW_PLATFORM_X11) return;
    using Handler = int (*)(void*);
    void* const library = dlopen("libX11.so.6", RTLD_LAZY | RTLD_NOLOAD);  // GLFW has loaded it
    if (library == nullptr) return;
    const auto set = reinterpret_cast<Handler (*)(Handler)>(dlsym(library, "XSetIOErrorHandler"));
    display_lost = act;
    if (set != nullptr) static_cast<void>(set(report_display_lost));
}

}  // namespace aft::app
