// BiasOrder: in which order the Atlas shows the maps of a layer's heads, or of the layers where
// each has one: by position, by a number of the probe "formation", by their change, or so that
// neighbours are alike. Window thread, inside a frame; returns at once.
#pragma once
#include <string>
#include <vector>

#include "app/panels/biases/bias_data.h"

namespace aft::app {

// Places in the order of their keys, the largest first, NaN last; of equal ones the lower index.
[[nodiscard]] std::vector<int64_t> largest_first(std::span<const double> keys);
// A greedy chain: the map of the largest norm, then always the one left whose correlation with the
// last is the largest; of equal ones the lower index. keys: that correlation, NaN of the first.
// Hidden cells and NaN count as 0, maps of other sizes as unlike (-1).
[[nodiscard]] std::vector<int64_t> neighbours_alike(std::span<const BiasMap* const> maps,
                                                    std::vector<double>& keys);

class BiasOrder {
  public:
    // At the start of each frame: the chosen order, or that of positions where it shows nothing.
    void follow(const ViewState& ui);
    void draw_tool(PaneContext& ui);
    // Once a frame, after that of the layers. in_layers: the heads of each layer are ordered, else
    // the layers.
    void update(const PaneContext& ui, const BiasLayers& layers, bool in_layers);
    [[nodiscard]] bool is_sorted() const { return key_ != OrderKey::position; }
    // Where a map stands among its fellows, and which one stands at a place.
    [[nodiscard]] int64_t place_of(int64_t layer, int64_t head) const;
    [[nodiscard]] int64_t head_at(int64_t layer, int64_t place) const;
    [[nodiscard]] int64_t layer_at(int64_t place) const;
    // "0.532", "r 0.98": what it is sorted by; "" = nothing, or not known yet.
    [[nodiscard]] std::string key_words(int64_t layer, int64_t head) const;

  private:
    struct Fellows {
        std::vector<double> keys;
        std::vector<int64_t> order;  // of indices; empty: their own
        uint64_t version = 0;        // of what it was made of
    };
    // Of the probe "formation"; else the maps themselves are looked at, when they change.
    [[nodiscard]] bool needs_numbers() const {
        return key_ != OrderKey::alike && key_ != OrderKey::change;
    }
    [[nodiscard]] double number_of(int64_t layer, int64_t head) const;
    // layer -1: the layers themselves. count: of the fellows.
    void sort(const BiasLayers& layers, Fellows& of, int64_t layer, int64_t count);
    [[nodiscard]] const Fellows* fellows_of(int64_t layer) const;

    OrderKey key_ = OrderKey::position;
    bool in_layers_ = true;
    Watch formation_;
    std::vector<Fellows> fellows_;
};

}  // namespace aft::app
