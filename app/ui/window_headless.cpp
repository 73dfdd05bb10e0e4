#include "app/ui/window_headless.h"

#include <imgui_impl_opengl3.h>

#include "viz/gl/context.h"
#include "viz/gl/framebuffer.h"
#include "viz/painter.h"

namespace aft::app {

namespace {

class Backend {  // ImGui's OpenGL renderer
  public:
    Backend() {
        AFT_CHECK(ImGui_ImplOpenGL3_Init("#version 330 core"),
                  "no OpenGL: its interface cannot be loaded");
    }
    ~Backend() { ImGui_ImplOpenGL3_Shutdown(); }
    Backend(const Backend&) = delete;
    Backend& operator=(const Backend&) = delete;
};

FrameOptions with(FrameOptions options, viz::MapPainter* painter, ImVec2 size) {
    ImGuiIO& io = ImGui::GetIO();
    io.DisplaySize = size;
    io.DeltaTime = 1.0f / 60;
    options.headless = true;
    options.painter = painter;
    return options;
}

}  // namespace

struct HeadlessStage::Parts {
    viz::gl::HeadlessContext context;
    GuiContext gui;
    Backend backend;
    viz::MapPainter painter;
    viz::gl::Framebuffer target;
    Frame frame;
    double time = 0;

    Parts(FrameOptions options, int width, int height)
        : target(width, height),
          frame(with(std::move(options), &painter,
                     {static_cast<float>(width), static_cast<float>(height)})) {}
};

HeadlessStage::HeadlessStage(FrameOptions options, int width, int height)
    : parts_(std::make_unique<Parts>(std::move(options), width, height)) {}

HeadlessStage::~HeadlessStage() = default;

Frame& HeadlessStage::frame() {
    return parts_->frame;
}

void HeadlessStage::step() {
    Parts& p = *parts_;
    p.time += 1.0 / 60;
    p.frame.prepare(p.time);
    ImGui_ImplOpenGL3_NewFrame();
    ImGui::NewFrame();
    p.frame.draw();
    ImGui::Render();
    p.target.clear(0, 1);
    ImGui_ImplOpenGL3_RenderDrawData(ImGui::GetDrawData());
    p.frame.finish();
}

void HeadlessStage::resize(int width, int height) {
    parts_->target = viz::gl::Framebuffer(width, height);
    ImGui::GetIO().DisplaySize = {static_cast<float>(width), static_cast<float>(height)};
}

Image HeadlessStage::picture() const {
    return parts_->target.read(true);
}

}  // namespace aft::app
