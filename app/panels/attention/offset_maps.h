// What targets attend to by offset, of one layer and the chosen picture: follows the probe
// "relative-attention" and holds its answer as maps. Window thread; returns at once.
#pragma once
#include <string>
#include <vector>

#include "app/panels/shared/watch.h"
#include "app/state/probe_options.h"
#include "viz/tiles.h"

namespace aft::app {

// [2H-1, 2W-1] shares, the target itself in the middle.
struct OffsetMap {
    std::vector<float> values;
    std::vector<uint8_t> hidden;  // 1 = no visible source at this offset
};

class OffsetMaps {
  public:
    struct OffsetRequest {
        int64_t layer = 0;
        AttentionPart part = AttentionPart::both;
        OffsetReduce reduce = OffsetReduce::head;
    };
    void update(const PaneContext& ui, const OffsetRequest& request);
    void clear();

    [[nodiscard]] const std::vector<OffsetMap>& maps() const { return maps_; }
    [[nodiscard]] viz::MapData data(size_t map) const;
    [[nodiscard]] int64_t rows() const { return rows_; }
    [[nodiscard]] int64_t columns() const { return columns_; }
    // From 0 to the largest share of the layer.
    [[nodiscard]] Range range() const { return range_; }
    [[nodiscard]] bool is_by_channel() const { return is_by_channel_; }
    [[nodiscard]] const std::string& targets() const { return targets_; }  // "64 of 256"
    [[nodiscard]] const Watch& watch() const { return watch_; }

  private:
    void take();
    Watch watch_;
    std::vector<OffsetMap> maps_;
    int64_t rows_ = 0, columns_ = 0;
    Range range_{0, 1};
    std::string targets_;
    bool is_by_channel_ = false;
    uint64_t version_ = 0;
};

// The share at a place of a map; NaN = not visible, or no such place.
[[nodiscard]] float offset_share(const OffsetMaps& maps, size_t map, int64_t row, int64_t column);

}  // namespace aft::app
