// What the panes of the Biases workspace show: the position biases of the layers as maps, their
// hidden cells, limits and colours, after the one selection. Window thread; returns at once.
#pragma once
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "app/panels/positions.h"
#include "app/panels/watch.h"
#include "app/ui/ui.h"
#include "viz/tiles.h"

namespace aft::app {

// How a model's position bias is laid out.
struct BiasForm {
    enum class Kind { none, matrix, band, kernel1, kernel2 };
    Kind kind = Kind::none;
    int64_t layers = 0, heads = 1;  // heads: maps per layer
    int64_t rows = 0, columns = 0;  // of one map, before blocks
    int64_t first_offset = 0;       // band and kernels: offset of column 0 (and of row 0: kernel2)
    int64_t window = 0, tokens = 0;
    bool is_causal = true, hides_outside = false;

    explicit BiasForm(const Status& status);
    // A narrow band is drawn wider, so that its offsets can be told apart.
    [[nodiscard]] int stretch() const {
        return kind == Kind::band ? int(std::clamp<int64_t>(rows / (2 * columns), 1, 8)) : 1;
    }
    [[nodiscard]] bool is_kernel() const { return kind == Kind::kernel1 || kind == Kind::kernel2; }
    // Target and source of cell (row, column) of a map drawn in blocks: those of its first value.
    [[nodiscard]] bool is_hidden(int64_t row, int64_t column, int64_t block) const;
    [[nodiscard]] Cell cell(int64_t layer, int64_t head, int64_t row, int64_t column) const;
    [[nodiscard]] bool place(const Cell& cell, int64_t& row, int64_t& column) const;  // false: none
};

struct BiasMap {  // one map of one layer
    int64_t rows = 0, columns = 0, block = 1;
    std::vector<float> shown;      // the extreme of largest magnitude of each block
    std::vector<float> low, mean;  // of blocks; empty without
    std::vector<float> high;
    std::vector<uint8_t> hidden;
    [[nodiscard]] viz::MapData data(uint64_t version) const {
        return {shown, rows, columns, hidden, version};
    }
};

struct BiasLayer {
    Watch watch;
    std::vector<BiasMap> maps;  // one per head; empty = not there yet
    uint64_t version = 0;       // grows with every change
    std::vector<Range> own;     // limits of each map
    Range limits;               // of the layer
};

// Layers of one model at one resolution. A pane keeps one of these.
class BiasLayers {
  public:
    struct Wanted {  // layers [first, end), in blocks of `block` values
        int64_t block = 1, first = 0, end = 0;
    };
    // Asks for what is wanted and takes what has come. Call once per frame.
    void update(Ui& ui, const BiasForm& form, const Wanted& wanted);
    [[nodiscard]] const BiasLayer& layer(int64_t i) const { return layers_.at(size_t(i)); }
    [[nodiscard]] bool has(int64_t i) const {
        return i >= 0 && i < int64_t(layers_.size()) && !layers_[size_t(i)].maps.empty();
    }
    [[nodiscard]] Coloring coloring(const Ui& ui, int64_t layer, int64_t head) const;
    [[nodiscard]] int64_t pending() const { return pending_; }  // layers on their way
    [[nodiscard]] const std::string& error() const { return error_; }
    [[nodiscard]] AskTurn& turn(int64_t layer) { return turns_.at(size_t(layer)); }
    // Values of one map that can be seen, for statistics and histograms.
    [[nodiscard]] std::vector<float> visible_values(int64_t layer, int64_t head) const;

  private:
    void rebuild(const Ui& ui, const BiasForm& form, int64_t block, BiasLayer& layer);
    std::vector<BiasLayer> layers_;
    std::vector<AskTurn> turns_;
    Quantity quantity_ = Quantity::w;
    double percentile_ = 0;
    uint64_t versions_ = 0;
    int64_t pending_ = 0;
    std::string error_;
};

// One map out of a probe's answer; empty if the answer has another shape.
[[nodiscard]] BiasMap map_of_fields(const FieldSet& fields, const BiasForm& form, int64_t head,
                                    int64_t block);
[[nodiscard]] ProbeRequest bias_request(const Ui& ui, const BiasForm& form, int64_t layer,
                                        int64_t block);
// Seconds between two refreshes while training runs: a large bias costs the worker time.
[[nodiscard]] double bias_hold(const BiasForm& form);
// Limits for a quantity: w symmetric, exp(w)-1 with its floor, the others from 0.
[[nodiscard]] Range quantity_limits(Quantity quantity, std::span<const float> values,
                                    double percentile, bool symmetric);
[[nodiscard]] bool is_signed(Quantity quantity);
[[nodiscard]] double to_w(Quantity quantity, double value);  // NaN for row share
[[nodiscard]] std::string step_words(const Ui& ui, const FieldSetPtr& fields);
// "range shared per layer, signed log, floor -1  ·  NAME, step N  ·  gauge"
[[nodiscard]] std::string bias_caption(const Ui& ui, const BiasForm& form, const BiasLayer& layer,
                                       bool names_block);

}  // namespace aft::app
