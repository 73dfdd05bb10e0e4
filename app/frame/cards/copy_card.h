// CopyCard: "Save elsewhere...": the weights and the state of training that are in memory, as a
// checkpoint outside the run: also where the run folder is gone or its disk is full. Window thread,
// inside a frame; every method returns at once.
#pragma once
#include <imgui.h>

#include <string>

#include "app/state/ui.h"

namespace aft::app {

class CopyCard {
  public:
    void open(const ViewState& ui);
    [[nodiscard]] bool is_open() const { return is_open_; }
    void draw(Ui& ui, ImVec2 display);
    void report(Ui& ui);  // once a frame: what became of it, as a toast

  private:
    void draw_fields(Ui& ui);
    [[nodiscard]] std::string why_not(const ViewState& ui) const;
    bool is_open_ = false, is_new_ = false, is_waiting_ = false;
    std::string file_, sent_;  // as it is typed; as it was asked for
    int64_t ticket_ = 0;       // of the copy that was asked for last
    uint64_t opened_ = 0;      // of which session
};

void add_copy_actions(Actions& actions, CopyCard& card);

}  // namespace aft::app
