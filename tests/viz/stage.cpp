#include "tests/viz/stage.h"

#include <dlfcn.h>
#include <imgui_impl_opengl3.h>
#include <implot.h>
#include <link.h>

#include "core/check.h"

namespace aft::viz {

namespace {

// Software OpenGL keeps a few hundred bytes of each context. Its libraries stay loaded, so that the
// leak check can name them (tests/leaks.txt) and continues to watch what we allocate ourselves.
void keep_drivers_loaded() {
    dl_iterate_phdr(
        [](dl_phdr_info* library, size_t, void*) {
            if (*library->dlpi_name != 0)
                dlopen(library->dlpi_name, RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE);
            return 0;
        },
        nullptr);
}

}  // namespace

std::string why_no_opengl() {
    static const std::string reason = [] {
        try {
            const gl::HeadlessContext context;
            keep_drivers_loaded();
            return std::string();
        } catch (const Error& error) {
            return std::string(error.what());
        }
    }();
    return reason;
}

Stage::Stage(With with, ThemeName theme) {
    look.theme = theme_of(theme);
    ImGui::CreateContext();
    ImPlot::CreateContext();
    ImGui::GetIO().IniFilename = nullptr;
    ImGui::GetIO().LogFilename = nullptr;
    if (with == With::opengl) {
        context_ = std::make_unique<gl::HeadlessContext>();
        keep_drivers_loaded();
        painter_ = std::make_unique<MapPainter>();
        target_ = gl::Framebuffer(int(size.x), int(size.y));
        look.painter = painter_.get();
        ImGui_ImplOpenGL3_Init("#version 330 core");
    } else {
        ImGui::GetIO().BackendFlags |=
            ImGuiBackendFlags_RendererHasTextures | ImGuiBackendFlags_RendererHasVtxOffset;
    }
}

Stage::~Stage() {
    if (context_) ImGui_ImplOpenGL3_Shutdown();
    ImPlot::DestroyContext();
    ImGui::DestroyContext();
}

void Stage::frame(const std::function<void()>& draw) {
    ImGuiIO& io = ImGui::GetIO();
    io.DisplaySize = size;
    io.DeltaTime = 1.0F / 60;
    io.AddMousePosEvent(mouse.x, mouse.y);
    if (context_) ImGui_ImplOpenGL3_NewFrame();
    ImGui::NewFrame();
    ImGui::SetNextWindowPos({0, 0});
    ImGui::SetNextWindowSize(size);
    ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {0, 0});
    ImGui::PushStyleVar(ImGuiStyleVar_WindowBorderSize, 0.0F);
    ImGui::PushStyleColor(ImGuiCol_WindowBg, look.theme.pane);
    ImGui::Begin("stage", nullptr, ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove);
    draw();
    ImGui::End();
    ImGui::PopStyleColor();
    ImGui::PopStyleVar(2);
    ImGui::Render();
    if (context_) {
        target_.clear(look.theme.pane, 1);
        ImGui_ImplOpenGL3_RenderDrawData(ImGui::GetDrawData());
        return;
    }
    for (ImTextureData* texture : ImGui::GetPlatformIO().Textures) {
        if (texture->Status == ImTextureStatus_WantDestroy) {
            texture->SetTexID(ImTextureID_Invalid);
            texture->SetStatus(ImTextureStatus_Destroyed);
        } else if (texture->Status != ImTextureStatus_OK) {
            texture->SetTexID(1);
            texture->SetStatus(ImTextureStatus_OK);
        }
    }
}

Image Stage::picture() const {
    return target_.read(true);
}

void Stage::press(ImVec2 at, const std::function<void()>& draw) {
    mouse = at;
    frame(draw);
    ImGui::GetIO().AddMouseButtonEvent(0, true);
    frame(draw);
    ImGui::GetIO().AddMouseButtonEvent(0, false);
    frame(draw);
    frame(draw);
}

}  // namespace aft::viz
