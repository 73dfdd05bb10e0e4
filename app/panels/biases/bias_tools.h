// What Atlas, Focus and Statistics draw alike: the row of tools, states, the hover line, and the
// sections of the Inspector for the chosen map. Window thread, inside a frame.
#pragma once
#include <string>
#include <vector>

#include "app/panels/biases/bias_data.h"
#include "app/panels/shared/copy_command.h"
#include "app/panels/shared/tool_row.h"
#include "app/widgets/text.h"

namespace aft::app {

// Quantity, value or change, range rule, scale and gauge, and those of the pane, as `available`
// pixels allow.
void bias_tools(Ui& ui, const BiasForm& form, float available, std::span<const Tool> own = {});
// The caption; where it does not fit, model and step come first: without them nothing is
// understood.
void draw_bias_caption(PaneContext& ui, std::string_view title, std::string words,
                       const BiasLayer& layer);
// Draws the empty, loading or error state and returns true when there is nothing else to draw.
[[nodiscard]] bool bias_state(Ui& ui, const BiasForm& form);

// A value under the pointer, with all its indices.
struct BiasReading {
    Cell cell;
    double value = 0;                    // of the quantity on screen; NaN = none
    double w = 0;                        // of the cell as it is stored; NaN = not known here
    double low = 0, mean = 0, high = 0;  // of its block
    Blocks block;
    int64_t rank = 0, count = 0;                // rank among the map's values, 1 = the largest
    bool is_hidden = false, is_masked = false;  // masked: hidden by w = -inf
    int64_t masked = 0, seen = 0;               // of a block's values: hidden by masks, of so many
};
[[nodiscard]] BiasReading read_bias(const BiasForm& form, const BiasMap& map, const Cell& cell);
[[nodiscard]] std::vector<ReadOut> bias_read_out(const ViewState& ui, const BiasForm& form,
                                                 const BiasReading& reading);
// For what the maps show now: a change always has its sign.
[[nodiscard]] std::string shown_value(const ViewState& ui, double value);

// Writes a layer's map as it is shown: from the step's checkpoint, or where only its biases are
// stored from the run, with all its stored steps.
[[nodiscard]] CopiedCommand bias_command(const ViewState& ui, const BiasForm& form,
                                         const BiasLayers& layers, int64_t layer);

struct MapStatistics {
    double low = 0, high = 0, mean = 0, norm = 0;  // norm: NaN where it is not known
    double entropy = 0;        // bits, of exp(w) normalised: a kernel, or the mean of the rows
    double mean_distance = 0;  // kernels: of exp(w) mass, in cells
    double within_one = 0;     // kernels: share of the mass within distance 1
    int64_t count = 0;
};
[[nodiscard]] MapStatistics bias_statistics(const BiasForm& form, const BiasMap& map,
                                            Quantity quantity);

// Below the colour bar: which values it covers, and what the hatch of masked cells means.
void draw_bias_limits(PaneContext& ui);
void draw_mask_legend(const DrawContext& ui, const BiasMap& map);

// Sections of the Inspector. Keeps its numbers until the map changes.
class BiasInspector {
  public:
    void draw(Ui& ui, const BiasForm& form, const BiasLayers& layers);

  private:
    void draw_selection(PaneContext& ui, const BiasForm& form, const BiasReading* reading);
    void draw_range(PaneContext& ui, const Coloring& coloring, const BiasReading* reading);
    void draw_statistics(PaneContext& ui, const BiasForm& form);
    void refresh(const PaneContext& ui, const BiasForm& form, const BiasLayers& layers);

    int64_t layer_ = -1, head_ = -1;
    uint64_t version_ = 0;
    Coloring coloring_;
    Distribution values_;
    std::vector<float> bars_;
    ClippedShare clipped_;
    MapStatistics statistics_;
};

}  // namespace aft::app
