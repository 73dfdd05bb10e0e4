// ViewCard: "Save view...": asks for the file and writes what is on the screen into it, to be
// opened again (app/state/view_file.h), as a picture, or the numbers that it shows. Window thread,
// inside a frame; writes a few kilobytes, the host writes what is larger.
#pragma once
#include <imgui.h>

#include <string>

#include "app/state/ui.h"

namespace aft::app {

class ViewCard {
  public:
    void open(const PaneContext& ui);
    [[nodiscard]] bool is_open() const { return is_open_; }
    void draw(Ui& ui, ImVec2 display);

  private:
    void draw_format(DrawContext& ui);
    void draw_words(PaneContext& ui) const;
    void save(Ui& ui);
    bool is_open_ = false, is_new_ = false;
    int format_ = 0;              // a view, PNG, SVG, numbers
    int scale_ = 1, ground_ = 1;  // of a picture: 2 times; as shown, light, dark
    std::string file_, problem_;
    std::string confirmed_;  // the file that is to be replaced: the next Save does it
};

void add_view_actions(Actions& actions, ViewCard& card);

}  // namespace aft::app
