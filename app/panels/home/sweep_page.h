// The page of Home for a sweep's folder: its points as a table that every column sorts, their means
// with spread and every seed as a plot, and the runs of the chosen point, each a click away. The
// table is read in a thread of its own, and again while runs are open. Window thread.
#pragma once
#include <string>
#include <vector>

#include "app/state/background.h"
#include "app/state/sweep_table.h"
#include "app/state/ui.h"

namespace aft::app {

class SweepPage {
  public:
    // In the area that is left; SweepChoice says which.
    void draw(Ui& ui);

  private:
    struct SweepAnswer {
        std::string folder, problem;
        SweepTable table;
    };
    void read(PaneContext& ui);
    void draw_heading(Ui& ui, const SweepAnswer& read, float width);
    void draw_table(PaneContext& ui, const SweepTable& table);
    void draw_runs(PaneContext& ui, const SweepRow& row, const std::string& metric);
    [[nodiscard]] std::vector<size_t> order(const SweepTable& table) const;

    Background<SweepAnswer> work_;
    double next_read_ = 0;  // seconds of the window's clock
    std::string asked_;     // folder that was read last
    int sorted_by_ = -1;    // column; -1 = as they were trained
    std::string chosen_;    // name of the point whose runs are listed
};

}  // namespace aft::app
