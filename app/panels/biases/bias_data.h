// What the panes of the Biases workspace show: the position biases of the layers as maps, their
// hidden cells, limits and colours, after the one selection. Window thread; returns at once.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/panels/shared/bias_map.h"
#include "app/panels/shared/bias_values.h"
#include "app/panels/shared/lock_words.h"
#include "app/panels/shared/positions.h"
#include "app/panels/shared/watch.h"
#include "app/state/ui.h"

namespace aft::app {

struct BiasLayer {
    Watch watch, pinned;        // pinned: the step that a change is counted from
    std::vector<BiasMap> maps;  // one per head; empty = not there yet
    Blocks block;
    BlockValue block_value = BlockValue::extreme;
    bool is_change = false;
    bool is_ranged = false;  // of the step, quantity and gauge on screen
    double clip = 0;         // what the limits were made with: percentile, below 0 = not symmetric
    uint64_t version = 0;    // grows with every change
    std::vector<Range> own;  // limits of each map
    Range limits;            // of the layer
};

struct BiasQuery {
    int64_t layer = 0;
    Blocks block{};
    bool is_change = false;
};

// Layers of one model at one resolution. A pane keeps one of these.
class BiasLayers {
  public:
    struct Wanted {  // layers [first, end), in blocks
        Blocks block;
        int64_t first = 0, end = 0;
        bool is_change = false;      // since the newest pin
        bool has_one_range = false;  // of all layers, the same in every pane
    };
    // Asks for what is wanted and takes what has come. Call once per frame.
    void update(const PaneContext& ui, const Wanted& wanted);
    // Of a layer, as the last update() had it.
    [[nodiscard]] const BiasForm& form(int64_t i) const { return forms_.at(size_t(i)); }
    [[nodiscard]] const BiasLayer& layer(int64_t i) const { return layers_.at(size_t(i)); }
    [[nodiscard]] bool has(int64_t i) const {
        return i >= 0 && i < int64_t(layers_.size()) && !layers_[size_t(i)].maps.empty();
    }
    [[nodiscard]] Coloring coloring(const PaneContext& ui, int64_t layer, int64_t head) const;
    [[nodiscard]] int64_t pending() const { return pending_; }  // layers on their way
    // Layers whose answer is of the step, quantity and gauge that are shown: a range of all layers
    // is one when these are all.
    [[nodiscard]] int64_t ranged() const;
    [[nodiscard]] const std::string& error() const { return error_; }
    [[nodiscard]] AskTurn& turn(int64_t layer) { return turns_.at(size_t(layer)); }
    // Values of one map that can be seen, for statistics and histograms.
    [[nodiscard]] std::vector<float> visible_values(int64_t layer, int64_t head) const;

  private:
    friend void cancel(BiasLayers& layers, const PaneContext& ui);
    void update_layer(const PaneContext& ui, const BiasQuery& query, BiasLayer& layer);
    [[nodiscard]] bool is_of_screen(const BiasLayer& layer) const;
    void rebuild(const ViewState& ui, const BiasForm& form, Blocks block, BiasLayer& layer);
    uint64_t opened_ = 0;            // whose layers these are
    std::vector<BiasForm> forms_;    // of the layers
    std::vector<BiasLayer> layers_;  // as they are drawn
    std::vector<BiasLayer> ranges_;  // in the blocks that one range is made of; empty without one
    std::vector<AskTurn> turns_;
    bool is_change_ = false;
    uint64_t versions_ = 0;
    int64_t pending_ = 0;
    std::string error_;
};

// Nothing that they have asked for is computed any more; the next update() asks again.
void cancel(BiasLayers& layers, const PaneContext& ui);
[[nodiscard]] int64_t layers_read(const BiasLayers& layers, int64_t count);  // of so many
[[nodiscard]] ProbeRequest bias_request(const ViewState& ui, const BiasForm& form,
                                        const BiasQuery& query);
// The change since the newest pin is wanted, and there is a pin.
[[nodiscard]] bool shows_change(const ViewState& ui);
[[nodiscard]] std::string bias_words(const ViewState& ui);  // "exp(w)-1", "Change of exp(w)-1"
// Seconds between two refreshes while training runs: a large bias costs the worker time.
[[nodiscard]] double bias_hold(const BiasForm& form);
// Of the gauge in which a layer's answer is: "raw gauge", "gauge fixed"; "" = not there yet.
[[nodiscard]] std::string gauge_words(const BiasForm& form, const BiasLayer& layer);
// Step of the pin that the change counts from, as it was found: "step 50", "" = not there yet.
[[nodiscard]] std::string pin_words(const BiasLayer& layer);
// "range shared per layer, signed log, floor -1, gauge fixed  ·  NAME, step N"
[[nodiscard]] std::string bias_caption(const ViewState& ui, const BiasForm& form,
                                       const BiasLayer& layer, bool names_block);

}  // namespace aft::app
