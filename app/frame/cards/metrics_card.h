// MetricsCard: "Export metrics...": writes what the open run has logged as CSV or for TensorBoard,
// by the job of the command `metrics`, in a thread of its own. Window thread, inside a frame; every
// method returns at once.
#pragma once
#include <imgui.h>

#include <string>

#include "app/state/background.h"
#include "app/state/ui.h"

namespace aft::app {

class MetricsCard {
  public:
    void open(const ViewState& ui);
    [[nodiscard]] bool is_open() const { return is_open_; }
    void draw(Ui& ui, ImVec2 display);
    void report(Ui& ui);  // once a frame: what became of the work, as a toast

  private:
    struct WrittenMetrics {
        std::string file, error, words;  // error "" = written; words: how much
        uint64_t number = 0;
    };
    void propose(const ViewState& ui);
    void draw_fields(Ui& ui);
    void start(Ui& ui);
    bool is_open_ = false, is_new_ = false;
    int format_ = 0;           // CSV, TensorBoard
    std::string path_, file_;  // of the run; what is written
    uint64_t started_ = 0, reported_ = 0;
    Background<WrittenMetrics> work_;
};

// Why what is open has no metrics that can be written; "" = it has.
[[nodiscard]] std::string why_no_metrics(const ModelView& ui);
void add_metrics_actions(Actions& actions, MetricsCard& card);

}  // namespace aft::app
