// SamplePopup: chooses an example of the model's data by its part, from a grid of small pictures
// (or the first lines of texts), or by its index; of a text model also a text of one's own. Opened
// by OpenPopup("samples"). Window thread; returns at once: the session reads the examples, and
// shows them as they come.
#pragma once
#include <string>
#include <vector>

#include "app/panels/shared/example_grid.h"
#include "app/panels/shared/own_text.h"
#include "app/state/ui.h"

namespace aft::app {

class SamplePopup {
  public:
    // several: with Ctrl or Shift a click chooses more than one of them.
    void draw(Ui& ui, std::vector<int64_t>* several = nullptr);

  private:
    void draw_part(PaneContext& ui);
    void draw_index(PaneContext& ui);
    void draw_examples(PaneContext& ui, std::vector<int64_t>* several);
    void gather(const ViewState& ui);
    [[nodiscard]] int64_t on_page() const;  // examples, once the size is known
    ExampleGrid grid_;
    OwnTextField own_text_;
    ExampleForm form_;
    ExampleItems items_;
    std::string of_;                // model, data and part of the items
    int64_t first_ = 0, size_ = 0;  // of the page; of the part, 0 = not known yet
    int64_t read_first_ = -1;       // of the page of the items
    int64_t followed_ = -1;         // the example whose page was shown last
};

// Button with the sample's name, arrows to the ones beside it, and the popup.
class SampleTool {
  public:
    void draw(Ui& ui);

  private:
    SamplePopup popup_;
};

}  // namespace aft::app
