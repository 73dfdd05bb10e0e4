// The page of Home for a sweep's folder: its points as a table that every column sorts, their means
// with spread and every seed as a plot, and the runs of the chosen point, each a click away. The
// table is read in a thread of its own, and again as soon as it is another one. Window thread.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "app/panels/home/sweep_plot.h"
#include "app/state/background.h"
#include "app/state/pane_choice.h"
#include "app/state/sweep_table.h"
#include "app/state/ui.h"
#include "app/widgets/table.h"

namespace aft::app {

class SweepPage {
  public:
    // In the area that is left; SweepChoice says which.
    void draw(Ui& ui);

  private:
    struct SweepAnswer {
        SweepChoice of{};
        std::string problem{};
        SweepTable table{};
        TableStamp stamp{};  // of its file, before it was read
    };
    // What is worked out when another table or order comes, not in every frame.
    struct Shown {
        std::shared_ptr<const SweepAnswer> read{};
        std::vector<Column> columns{};
        std::vector<size_t> order{};  // of the rows
        int sorted_by = -1;           // that order
        std::string words{};          // what is measured, and how far it is
        SweepPlotSpan span{};
    };
    void read(PaneContext& ui);
    void refresh();
    void sort();
    void draw_heading(Ui& ui, const SweepAnswer& read, float width);
    void draw_table(PaneContext& ui, const SweepTable& table);
    void draw_runs(PaneContext& ui, const SweepRow& row, const std::string& metric);

    Background<SweepAnswer> work_;
    double next_read_ = 0;  // seconds of the window's clock
    SweepChoice asked_{};   // that was read last
    int sorted_by_ = -1;    // column; -1 = as they were trained
    std::string chosen_;    // name of the point whose runs are listed
    Shown shown_;
};

}  // namespace aft::app
