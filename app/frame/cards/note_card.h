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
    int64_t step_ = 0, read_step_ = -1;  // read_step_: whose note the text began as
    std::string text_;
};

}  // namespace aft::app
