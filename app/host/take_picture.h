// What is written of the frame's middle: pictures and numbers. Window thread.
#pragma once
#include <imgui.h>

#include <functional>

#include "app/state/ui.h"
#include "core/images/image.h"

namespace aft::app {

// What can be read of the last frame.
struct FrameReader {
    std::function<Image()> pixels;                        // the whole window, RGB
    std::function<Image(ImTextureID texture)> texture{};  // RGBA
};
// The panes in the middle, of the whole window. Error where there are none.
[[nodiscard]] Image middle_of(const Image& whole, const DuePicture& due);
// Draws the last frame once more, beside the screen. Its OpenGL context current.
[[nodiscard]] FrameReader gl_reader();

// After the backend has begun a frame and before Dear ImGui does: the frame of a picture is drawn
// at its scale, one that becomes SVG without smoothed edges, and numbers are handed over.
void begin_picture_frame(Ui& ui);

// After a frame is drawn: reads the picture that is due of it, and has it written in a thread of
// its own; says what became of it in a later frame. True: one was due, and the next frame is as
// before.
bool take_due_picture(Ui& ui, const FrameReader& source);

}  // namespace aft::app
