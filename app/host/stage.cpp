#include "app/host/stage.h"

#include <imgui_internal.h>
#include <implot.h>

#include "app/host/take_film_frame.h"

namespace aft::app {

GuiContext::GuiContext() : gui_(ImGui::CreateContext()), plot_(ImPlot::CreateContext()) {
    ImGuiIO& io = ImGui::GetIO();
    io.ConfigFlags |= ImGuiConfigFlags_DockingEnable | ImGuiConfigFlags_NavEnableKeyboard;
    // From pane to pane by actions of our own (app/frame/keyboard.h).
    gui_->ConfigNavWindowingKeyNext = gui_->ConfigNavWindowingKeyPrev = 0;
    io.ConfigWindowsMoveFromTitleBarOnly = true;
    io.ConfigInputTextCursorBlink = false;  // a resting window draws nothing
    io.IniFilename = nullptr;
    io.LogFilename = nullptr;
}

GuiContext::~GuiContext() {
    ImPlot::DestroyContext(plot_);
    ImGui::DestroyContext(gui_);
}

namespace {

FrameOptions prepared(FrameOptions options, ImVec2 size) {
    ImGuiIO& io = ImGui::GetIO();
    io.DisplaySize = size;
    io.DeltaTime = 1.0f / 60;
    io.BackendFlags |=
        ImGuiBackendFlags_RendererHasTextures | ImGuiBackendFlags_RendererHasVtxOffset;
    return options;
}

// What a renderer would do with the font atlas, without one.
void answer_texture_requests() {
    for (ImTextureData* texture : ImGui::GetPlatformIO().Textures) {
        if (texture->Status == ImTextureStatus_WantCreate) texture->SetTexID(1);
        if (texture->Status == ImTextureStatus_WantDestroy) {
            texture->SetTexID(ImTextureID_Invalid);
            texture->SetStatus(ImTextureStatus_Destroyed);
        } else {
            texture->SetStatus(ImTextureStatus_OK);
        }
    }
}

Image black_picture() {
    const ImVec2 size = ImGui::GetIO().DisplaySize;
    const auto width = static_cast<int64_t>(size.x), height = static_cast<int64_t>(size.y);
    return {width, height, 3, std::vector<uint8_t>(static_cast<size_t>(width * height * 3))};
}

}  // namespace

BareStage::BareStage(FrameOptions options, ImVec2 size)
    : pictures{.pixels = black_picture}, frame_(prepared(std::move(options), size)) {}

void BareStage::step() {
    time_ += 1.0 / 60;
    frame_.prepare(time_);
    begin_picture_frame(frame_.ui());
    ImGui::NewFrame();
    frame_.draw();
    ImGui::Render();
    answer_texture_requests();
    take_due_picture(frame_.ui(), pictures);
    frame_.finish();
    take_film_frame(ui(), pictures);
}

void BareStage::set_size(ImVec2 size) {
    ImGui::GetIO().DisplaySize = size;
}

}  // namespace aft::app
