// PictureChoice: how many pictures are completed at once and which: a number of examples in a row,
// or a list of them. Part of the Source pane. Window thread, inside a frame.
#pragma once
#include <string>
#include <vector>

#include "app/state/ui.h"

namespace aft::app {

class PictureChoice {
  public:
    void draw(Ui& ui);

  private:
    void draw_list(PaneContext& ui, const std::string& why_not);
    std::string text_, problem_;
    std::vector<int64_t> of_{-1};  // that the text says
};

}  // namespace aft::app
