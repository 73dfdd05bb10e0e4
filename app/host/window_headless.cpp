#include "app/host/window_headless.h"

#include <imgui_impl_opengl3.h>

#include "app/host/take_picture.h"
#include "core/files.h"
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
    options.program = own_program();
    options.painter = painter;
    return options;
}

}  // namespace

// Frames whose uploads and painted maps the driver may keep waiting.
static constexpr int kKept = 16;

struct HeadlessStage::Impl {
    viz::gl::HeadlessContext context;
    GuiContext gui;
    Backend backend;
    viz::MapPainter painter;
    viz::gl::Framebuffer target;
    Frame frame;
    double time = 0;
    int frames = 0;
    bool is_drawn = false;  // the last frame, into `target`

    Impl(FrameOptions options, int width, int height)
        : target(width, height),
          frame(with(std::move(options), &painter,
                     {static_cast<float>(width), static_cast<float>(height)})) {}
};

HeadlessStage::HeadlessStage(FrameOptions options, int width, int height)
    : impl_(std::make_unique<Impl>(std::move(options), width, height)) {}

HeadlessStage::~HeadlessStage() = default;

Frame& HeadlessStage::frame() {
    return impl_->frame;
}

void HeadlessStage::step() {
    Impl& p = *impl_;
    p.time += 1.0 / 60;
    p.frame.prepare(p.time);
    ImGui_ImplOpenGL3_NewFrame();
    begin_picture_frame(p.frame.ui());
    ImGui::NewFrame();
    p.frame.draw();
    ImGui::Render();
    // Most frames nobody looks at: picture() draws the others. Textures cannot wait.
    for (ImTextureData* texture : *ImGui::GetDrawData()->Textures)
        if (texture->Status != ImTextureStatus_OK) ImGui_ImplOpenGL3_UpdateTexture(texture);
    p.is_drawn = false;
    if (++p.frames % kKept == 0) p.context.finish();
    p.frame.finish();
}

void HeadlessStage::resize(int width, int height) {
    impl_->target = viz::gl::Framebuffer(width, height);
    impl_->is_drawn = true;  // empty until the next step
    ImGui::GetIO().DisplaySize = {static_cast<float>(width), static_cast<float>(height)};
}

Image HeadlessStage::picture() const {
    Impl& p = *impl_;
    if (!p.is_drawn) {
        p.target.clear(0, 1);
        ImGui_ImplOpenGL3_RenderDrawData(ImGui::GetDrawData());
        p.is_drawn = true;
    }
    return p.target.read(true);
}

}  // namespace aft::app
