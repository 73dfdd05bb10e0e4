// TraceData: follows the probe "trace" of the chosen target and holds its answer layer by layer.
// Window thread; returns at once.
#pragma once
#include <optional>
#include <vector>

#include "app/panels/shared/fold.h"
#include "app/panels/shared/watch.h"
#include "app/state/probe_options.h"

namespace aft::app {

struct TraceSource {
    int64_t position = 0;
    double share = 0;
    std::optional<double> prior{};  // by the biases alone; none: this mixer has none
    [[nodiscard]] std::optional<double> keys_factor() const;  // share over prior
};

// Shares at the input of a layer, after following down through the layers above and this one; or,
// alone, what this layer gives the target.
struct TraceRow {
    int64_t layer = 0;
    bool is_alone = false;
    double kept = 0;  // what the residual connection of this layer carried past its mixer
    std::vector<float> shares{};           // [T]; NaN = not visible
    std::vector<float> prior{};            // [T], by the biases alone; empty: this mixer has none
    Folded folded{};                       // of the shares
    double top = 0;                        // the largest folded value
    std::vector<uint8_t> masked{};         // [T], alone: 1 = w = -inf hides it; empty = none
    std::vector<TraceSource> strongest{};  // largest first, none without a share
    [[nodiscard]] std::optional<TraceSource> source(int64_t position) const;
    [[nodiscard]] bool is_masked(int64_t position) const;
    // What the map shows at a source: the sum over the channels of its pixel.
    [[nodiscard]] float shown_share(const Positions& positions, int64_t position) const;
};

class TraceData {
  public:
    // A target that has just moved is asked for when it has come to rest.
    void update(PaneContext& ui, TracedLayers layers, ResidualShare residual);
    void clear() { *this = TraceData(); }
    void set_cancelled(const PaneContext& ui, bool is_cancelled);

    [[nodiscard]] const std::vector<TraceRow>& rows() const { return rows_; }  // last layer first
    [[nodiscard]] const TraceRow* row(int64_t layer) const;  // nullptr: not there yet
    [[nodiscard]] const Watch& watch() const { return watch_; }

  private:
    void take(const PaneContext& ui);
    Watch watch_;
    std::vector<TraceRow> rows_;
    int64_t target_ = -1;
    double rest_until_ = 0;
    double asked_at_ = -1, took_ = 0;  // seconds: of the running question, of the last answer
    uint64_t version_ = 0;
};

}  // namespace aft::app
