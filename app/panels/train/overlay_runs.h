// OverlayRuns: what the runs that are chosen as overlays have logged, read by a thread of its own
// and followed while it grows. Window thread; every method returns at once.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "app/panels/train/plot_series.h"
#include "app/state/background.h"
#include "app/state/ui.h"
#include "model/jobs/stored_biases.h"

namespace aft::app {

struct OverlayRun {
    std::string path, name;                      // name: as the window calls the run
    ImU32 color = 0;                             // no other curve of the plots of this frame has it
    std::shared_ptr<const StoredModel> model{};  // null: not read yet, or `error` says why
    std::string error{};
    PlotSeries series{};
};

class OverlayRuns {
  public:
    static constexpr double kBetweenLooks = 2;  // seconds

    // Once a frame in which they are seen.
    void update(PaneContext& ui);
    [[nodiscard]] const std::vector<OverlayRun>& all() const { return runs_; }
    [[nodiscard]] bool is_reading() const { return work_.is_busy(); }
    // Which of them have no curves here, and why; "" = none.
    [[nodiscard]] std::string left_out(const ModelView& ui) const;

  private:
    struct ReadRun {
        std::string path, error;
        std::shared_ptr<const StoredModel> model;
    };
    using ReadRuns = std::vector<ReadRun>;
    [[nodiscard]] static ReadRun read(ReadRun run);
    void choose(const PaneContext& ui);
    void look(const PaneContext& ui);

    std::vector<OverlayRun> runs_;  // in the order of ViewState::overlays
    double looked_at_ = -1e9, styled_at_ = -1e9;
    ThemeName theme_ = ThemeName::dark;
    bool is_new_ = false;  // others are chosen than were looked at
    Background<ReadRuns> work_;
};

// The loss of this run has the unit of the open one's.
[[nodiscard]] bool has_unit_of(const OverlayRun& run, const ModelView& ui);

}  // namespace aft::app
