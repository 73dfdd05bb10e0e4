#include "app/host/window.h"

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>
#include <imgui_impl_glfw.h>
#include <imgui_impl_opengl3.h>
#include <imgui_internal.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <deque>
#include <utility>

#include "app/host/frame_log.h"
#include "app/host/speech.h"
#include "app/host/stage.h"
#include "app/host/take_film_frame.h"
#include "app/host/take_picture.h"
#include "app/host/window_glfw.h"
#include "app/state/user_settings_text.h"
#include "core/caught.h"
#include "core/files.h"
#include "core/outside.h"
#include "viz/canvas.h"
#include "viz/gl/api.h"
#include "viz/gl/context.h"
#include "viz/painter.h"

namespace aft::app {

namespace {

constexpr int kFramesAfterInput = 3;      // popups need more than one
constexpr double kLate_s = 1.0 / 30;      // a frame that is felt: training yields for the next
constexpr double kShareAtRest = 0.04;     // of one core, for drawing what training wakes us for
constexpr double kShareCompleting = 0.2;  // samples fill in ten times a second

struct Callbacks {
    int frames_left = kFramesAfterInput;
    double last_input = 0;
    std::vector<std::string> dropped;
    bool must_show = true;  // what stands on the screen may be lost
    bool must_draw = true;  // so may be what was drawn
};

Callbacks& of(GLFWwindow* window) {
    return *static_cast<Callbacks*>(glfwGetWindowUserPointer(window));
}

void touch(GLFWwindow* window) {
    of(window).frames_left = kFramesAfterInput;
    of(window).last_input = glfwGetTime();
}

// Before ImGui's own, which call these in turn.
void install_callbacks(GLFWwindow* window) {
    glfwSetKeyCallback(window, [](GLFWwindow* w, int, int, int, int) { touch(w); });
    glfwSetCharCallback(window, [](GLFWwindow* w, unsigned) { touch(w); });
    glfwSetMouseButtonCallback(window, [](GLFWwindow* w, int, int, int) { touch(w); });
    glfwSetCursorPosCallback(window, [](GLFWwindow* w, double, double) { touch(w); });
    glfwSetCursorEnterCallback(window, [](GLFWwindow* w, int) { touch(w); });
    glfwSetScrollCallback(window, [](GLFWwindow* w, double, double) { touch(w); });
    glfwSetWindowFocusCallback(window, [](GLFWwindow* w, int) { touch(w); });
    glfwSetWindowRefreshCallback(window, [](GLFWwindow* w) {
        of(w).frames_left = kFramesAfterInput;
        of(w).must_show = true;
    });
    glfwSetFramebufferSizeCallback(window, [](GLFWwindow* w, int, int) {
        touch(w);
        of(w).must_draw = true;
    });
    glfwSetWindowContentScaleCallback(window, [](GLFWwindow* w, float, float) { touch(w); });
    glfwSetWindowCloseCallback(window, [](GLFWwindow* w) { touch(w); });
    glfwSetDropCallback(window, [](GLFWwindow* w, int count, const char** paths) {
        touch(w);
        for (int i = 0; i < count; ++i) of(w).dropped.emplace_back(paths[i]);
    });
}

// Whether a swap leaves in the window's buffer what it showed. OpenGL promises nothing; where the
// processor draws, Mesa copies the picture out. Seen by frames that are all but alike; the corner
// that is cleared before the look makes sure that it is into the buffer that comes next.
bool swap_keeps_picture(GLFWwindow* window) {
    constexpr int kFrames = 3, kBlue = 4, kCorner = 2;  // steps of blue of 255; pixels
    if (glfwGetPlatform() != GLFW_PLATFORM_X11) return false;
    glBindFramebuffer(GL_FRAMEBUFFER, 0);
    for (int i = 1; i <= kFrames; ++i) {
        glDisable(GL_SCISSOR_TEST);
        glClearColor(0, 0, float(i * kBlue) / 255, 1);
        glClear(GL_COLOR_BUFFER_BIT);
        glfwSwapBuffers(window);
    }
    glEnable(GL_SCISSOR_TEST);
    glScissor(0, 0, kCorner, kCorner);
    glClearColor(0, 0, 0, 1);
    glClear(GL_COLOR_BUFFER_BIT);
    glDisable(GL_SCISSOR_TEST);
    std::array<uint8_t, 4> pixel{};
    glReadBuffer(GL_BACK);
    glReadPixels(2 * kCorner, 2 * kCorner, 1, 1, GL_RGBA, GL_UNSIGNED_BYTE, pixel.data());
    return pixel[2] == kFrames * kBlue;
}

class Backends {
  public:
    explicit Backends(GLFWwindow* window) {
        AFT_CHECK(ImGui_ImplGlfw_InitForOpenGL(window, true),
                  "the window's input cannot be set up");
        AFT_CHECK(ImGui_ImplOpenGL3_Init("#version 330 core"),
                  "no OpenGL: its interface cannot be loaded");
    }
    ~Backends() {
        ImGui_ImplOpenGL3_Shutdown();
        ImGui_ImplGlfw_Shutdown();
    }
    Backends(const Backends&) = delete;
    Backends& operator=(const Backends&) = delete;
};

FrameOptions frame_options(const WindowOptions& options, viz::MapPainter* painter,
                           std::atomic<bool>& woken, float scale) {
    FrameOptions out;
    out.painter = painter;
    out.display_scale = scale;
    out.device = options.device;
    out.program = own_program();
    out.ranks = options.ranks;
    if (options.remember) out.settings_file = config_folder() / "window.json";
    out.wake = [&woken] {
        woken = true;
        glfwPostEmptyEvent();
    };
    return out;
}

// With the size of the last time where none is asked for. Before there is a window, and with it a
// frame.
WindowOptions sized(WindowOptions options) {
    UserSettings settings;
    const auto file = config_folder() / "window.json";
    std::error_code ignored;
    if (options.remember && std::filesystem::exists(file, ignored))
        static_cast<void>(error_words([&] {  // damaged: the frame says it
            settings = parse_user_settings(read_file(file));
        }));
    if (options.width <= 0) options.width = settings.window_width;
    if (options.height <= 0) options.height = settings.window_height;
    return options;
}

struct Renderer {
    viz::MapPainter painter{};
    viz::Canvas canvas{};  // where the processor draws
    bool is_software = viz::gl::opengl_info().is_software;
};

struct FrameReports {  // outside of the window
    FrameLog log{};
    Speech speech{};
};

struct LastFrame {  // by the last frame; seconds
    std::string title{};
    double last_draw = 0, last_cost = 0.01, saved_at = 0;
};

}  // namespace

struct Window::Impl {
    WindowOptions options;
    std::atomic<bool> woken{false};
    Callbacks callbacks;
    GlfwWindow window;
    GuiContext gui;
    Renderer renderer;
    Backends backends;
    FrameReports reports;
    Frame frame;
    LastFrame shown;

    explicit Impl(WindowOptions o)
        : options(sized(std::move(o))),
          window(options.width, options.height),
          backends((prepare_callbacks(), window.get())),
          frame(frame_options(options, &renderer.painter, woken, window.content_scale())) {
        const bool is_own = viz::gl::opengl_info().renderer.find("zink") == std::string::npos;
        if (renderer.is_software && is_own && swap_keeps_picture(window.get()))
            renderer.canvas.draw_into_window();
    }

    void prepare_callbacks() {
        glfwSetWindowUserPointer(window.get(), &callbacks);
        install_callbacks(window.get());
    }
    void wait();
    [[nodiscard]] double next_due();
    void draw_frame();
    void show_frame();
    void show_differences();
    void keep_screen();
    void take_input();
    void keep_size(UserSettings& settings) const;
    void set_title();
};

Window::Window(WindowOptions options) : impl_(std::make_unique<Impl>(std::move(options))) {}
Window::~Window() = default;
Frame& Window::frame() {
    return impl_->frame;
}

Image Window::picture() const {
    int width = 0, height = 0;
    glfwGetFramebufferSize(impl_->window.get(), &width, &height);
    Image image{width, height, 3, std::vector<uint8_t>(static_cast<size_t>(width * height * 3))};
    glPixelStorei(GL_PACK_ALIGNMENT, 1);
    glReadBuffer(GL_FRONT);
    glReadPixels(0, 0, width, height, GL_RGB, GL_UNSIGNED_BYTE, image.pixels.data());
    const auto row = static_cast<size_t>(width) * 3;
    for (int y = 0; y < height / 2; ++y) {
        uint8_t* top = image.pixels.data() + row * static_cast<size_t>(y);
        std::swap_ranges(top, top + row,
                         image.pixels.data() + row * static_cast<size_t>(height - 1 - y));
    }
    return image;
}

// The next moment at which a frame is due though there is no input.
double Window::Impl::next_due() {
    const Ui& ui = frame.ui();
    double due = ui.wanted.at;
    if (!woken) return due;
    // What another thread has to show is drawn at a pace that leaves the cores to training.
    double pause = 0.03;
    if (ui.status.state == RunState::running) {
        const auto completion =
            ui.session != nullptr ? ui.session->completions().latest() : nullptr;
        const bool completing = completion && !completion->done;
        pause =
            std::clamp(shown.last_cost / (completing ? kShareCompleting : kShareAtRest), 0.1, 0.5);
        if (glfwGetTime() - callbacks.last_input < 0.5) pause = 0.1;
    }
    return std::min(due, shown.last_draw + pause);
}

void Window::Impl::wait() {
    if (callbacks.frames_left > 0 || frame.ui().wanted.count > 0) {
        glfwPollEvents();
        return;
    }
    for (;;) {
        const double rest = next_due() - glfwGetTime();
        if (rest <= 0) break;
        if (std::isfinite(rest))
            glfwWaitEventsTimeout(rest);
        else
            glfwWaitEvents();
        if (callbacks.frames_left > 0 || glfwWindowShouldClose(window.get()) != 0 ||
            options.stop.stop_requested())
            return;
    }
}

void Window::Impl::take_input() {
    Ui& ui = frame.ui();
    for (const std::string& path : callbacks.dropped) frame.open(path);
    callbacks.dropped.clear();
    const bool is_fresh = glfwGetTime() - callbacks.last_input < 0.1 && callbacks.last_input > 0;
    Session* const session = frame.session();
    if (is_fresh && shown.last_cost > kLate_s && session != nullptr &&
        ui.settings.smooth_while_interact && ui.status.state == RunState::running)
        session->pace().yield_for_ms(100);
    frame.set_display_scale(window.content_scale());
    if (glfwGetWindowAttrib(window.get(), GLFW_MAXIMIZED) == 0) keep_size(ui.settings);
}

// Without the display's scale, by which GLFW multiplies it at the start.
void Window::Impl::keep_size(UserSettings& settings) const {
    int width = 0, height = 0;
    glfwGetWindowSize(window.get(), &width, &height);
    const float scale = window.content_scale();
    settings.window_width = static_cast<int>(std::lround(float(width) / scale));
    settings.window_height = static_cast<int>(std::lround(float(height) / scale));
}

void Window::Impl::set_title() {
    const std::string& name = frame.ui().status.name;
    const std::string wanted = name.empty() ? "Afterimage" : name + " \u2013 Afterimage";
    if (std::exchange(shown.title, wanted) != wanted)
        glfwSetWindowTitle(window.get(), printable_line(wanted).c_str());
}

void Window::Impl::show_frame() {
    int width = 0, height = 0;
    glfwGetFramebufferSize(window.get(), &width, &height);
    glBindFramebuffer(GL_FRAMEBUFFER, 0);
    glViewport(0, 0, width, height);
    glDisable(GL_SCISSOR_TEST);
    glClear(GL_COLOR_BUFFER_BIT);
    ImGui_ImplOpenGL3_RenderDrawData(ImGui::GetDrawData());
    renderer.painter.take_repainted();
    frame.finish();  // before the swap, which may wait for the screen: that is no cost
    glfwSwapBuffers(window.get());
}

void Window::Impl::show_differences() {
    const bool must_show = std::exchange(callbacks.must_show, false);
    // A frame of a film is read whole, not only where it differs.
    const bool must_draw = std::exchange(callbacks.must_draw, false);
    if (must_draw || frame.ui().film_frame.is_due) renderer.canvas.forget();
    const bool has_any =
        renderer.canvas.draw(*ImGui::GetDrawData(), renderer.painter.take_repainted());
    if (has_any || must_show) {
        renderer.canvas.show();
        glfwSwapBuffers(window.get());  // the processor draws in here
    }
    frame.finish();
}

// A frame for a picture: the screen keeps what it shows.
void Window::Impl::keep_screen() {
    for (ImTextureData* texture : *ImGui::GetDrawData()->Textures)
        if (texture->Status != ImTextureStatus_OK) ImGui_ImplOpenGL3_UpdateTexture(texture);
    callbacks.must_draw = true;
    callbacks.must_show = true;
    frame.finish();
}

void Window::Impl::draw_frame() {
    const double start = glfwGetTime();
    woken = false;
    take_input();
    frame.prepare(start);
    ImGui_ImplOpenGL3_NewFrame();
    ImGui_ImplGlfw_NewFrame();
    begin_picture_frame(frame.ui());
    const bool is_apart = frame.ui().picture.is_apart();
    ImGui::NewFrame();
    frame.draw();
    ImGui::Render();
    if (is_apart)
        keep_screen();
    else if (renderer.is_software)
        show_differences();
    else
        show_frame();
    reports.log.add(start, frame.ui().stats.draw_ms, state_name(frame.ui().status.state));
    write_dump(frame.ui());
    reports.speech.follow(frame.ui());
    set_title();
    window.note_training(frame.ui().status);
    shown.last_draw = glfwGetTime();
    shown.last_cost = shown.last_draw - start;
    // Dear ImGui takes one change of a key a frame; fast typing must not wait for the next event.
    const bool has_more = ImGui::GetCurrentContext()->InputEventsQueue.Size > 0;
    callbacks.frames_left = has_more ? kFramesAfterInput : std::max(0, callbacks.frames_left - 1);
    if (ImGui::GetIO().WantSaveIniSettings && shown.last_draw - shown.saved_at > 5) {
        shown.saved_at = shown.last_draw;
        ImGui::GetIO().WantSaveIniSettings = false;
        frame.save_settings();
    }
}

void Window::run() {
    Impl& p = *impl_;
    const std::stop_callback on_stop(p.options.stop, [] { glfwPostEmptyEvent(); });
    const auto is_ending = [&p] {
        return glfwWindowShouldClose(p.window.get()) != 0 || p.frame.ui().commands.is_quitting() ||
               p.options.stop.stop_requested();
    };
    while (!is_ending() || p.frame.ui().picture.is_unfinished()) {
        const bool draws_now = p.options.before_frame && p.options.before_frame(p.frame);
        if (draws_now)
            glfwPollEvents();
        else
            p.wait();
        p.draw_frame();
        take_due_picture(p.frame.ui(), gl_reader());
        take_film_frame(p.frame.ui(), gl_reader());
    }
    p.frame.save_settings();
}

void Window::stay_open(const UnsavedSteps& unsaved) {
    Ui& ui = frame().ui();
    glfwSetWindowShouldClose(impl_->window.get(), GLFW_FALSE);
    ui.commands.stay();
    ui.toasts.add({.kind = ToastKind::error,
                   .title = "Not closed: " + unsaved.what(),
                   .detail = unsaved.reason +
                             ". Save the checkpoint when the cause is gone, or close once more to "
                             "lose these steps."});
    ui.say("error", "not closed: " + unsaved.what() + ": " + unsaved.reason);
    ui.want_frames(kFramesAfterInput);
}

}  // namespace aft::app
