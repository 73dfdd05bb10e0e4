// NoteCard: writes, changes or removes a note at a step of the open run. Opens where a step is
// asked for (PaneContext::note_asked). Window thread, inside a frame.
#pragma once
#include <imgui.h>

#include <cstdint>
#include <string>

#include "app/state/ui.h"

namespace aft::app {

class NoteCard {
  public:
    [[nodiscard]] bool is_open() const { return is_open_; }
    void draw(Ui& ui, ImVec2 display);

  private:
    void open(const ViewState& ui, int64_t step);
    void draw_fields(Ui& ui);
    void draw_answer(Ui& ui, bool is_submitted);
    bool is_open_ = false, is_new_ = false;
    void take_note(const ViewState& ui);
    int64_t step_ = 0, read_step_ = -1;
    std::string text_, read_;  // read_: the note of read_step_, as the text began
};

}  // namespace aft::app
