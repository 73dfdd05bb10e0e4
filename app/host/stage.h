// Stages: where a Frame is drawn. BareStage has no renderer at all (tests, thousands of frames a
// second); HeadlessStage (window_headless.h) draws pictures through EGL; the real window is
// window.cpp. Window thread.
#pragma once
#include <imgui.h>

#include <functional>
#include <string>

#include "app/frame/frame.h"
#include "app/host/take_picture.h"
#include "core/images/image.h"

struct ImPlotContext;

namespace aft::app {

// The contexts of Dear ImGui and ImPlot, made current; docking on, no files of their own.
class GuiContext {
  public:
    GuiContext();
    ~GuiContext();
    GuiContext(const GuiContext&) = delete;
    GuiContext& operator=(const GuiContext&) = delete;

  private:
    ImGuiContext* gui_;
    ImPlotContext* plot_;
};

class BareStage {
  public:
    BareStage(FrameOptions options, ImVec2 size);
    void step();  // one frame; time advances by 1/60 s
    [[nodiscard]] Frame& frame() { return frame_; }
    [[nodiscard]] Ui& ui() { return frame_.ui(); }
    void set_size(ImVec2 size);
    // What a renderer would have drawn: black until a test says otherwise.
    FrameReader pictures;

  private:
    GuiContext context_;
    Frame frame_;
    double time_ = 0;
};

}  // namespace aft::app
