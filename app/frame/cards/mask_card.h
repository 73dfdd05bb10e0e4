// MaskCard: "Load or save mask...": the mask of Complete as a picture of the model's size, as
// `afterimage complete --mask` reads it: what is not black is to be filled in. Window thread,
// inside a frame; reads and writes a small picture.
#pragma once
#include <imgui.h>

#include <string>

#include "app/state/ui.h"

namespace aft::app {

class MaskCard {
  public:
    void open(const ViewState& ui);
    [[nodiscard]] bool is_open() const { return is_open_; }
    void draw(Ui& ui, ImVec2 display);

  private:
    void draw_answer(Ui& ui, bool is_submitted);
    void load(Ui& ui);
    void save(Ui& ui);
    bool is_open_ = false, is_new_ = false;
    std::string file_, problem_;
};

void add_mask_actions(Actions& actions, MaskCard& card);

}  // namespace aft::app
