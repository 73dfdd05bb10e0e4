// What targets attend to by offset, of one layer and the chosen picture: follows the probe
// "relative-attention" and holds its answer as maps. Window thread; returns at once.
#pragma once
#include <string>
#include <vector>

#include "app/panels/shared/watch.h"
#include "app/state/probe_options.h"
#include "viz/atlas.h"

namespace aft::app {

// [2H-1, 2W-1] shares, the target itself in the middle.
struct OffsetMap {
    std::vector<float> values;
    std::vector<uint8_t> hidden;  // 1 = no visible source at this offset
};

struct OffsetState {
    std::string targets{};  // "64 of 256"
    // Examples that the mean is over by now, and will be; 1 and 1 for the source alone.
    int64_t used = 1, asked = 1;
    std::string left_out{};  // those that could not be read, and why; "" = all could
    bool is_current = false, is_pending = false;
};

class OffsetMaps {
  public:
    struct OffsetRequest {
        int64_t layer = 0;
        AttentionPart part = AttentionPart::both;
        OffsetReduce reduce = OffsetReduce::head;
        int64_t examples = 1;  // the mean over so many of the data in a row, the source the first
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
    // Of one example, and of a mean the newest of its answers.
    [[nodiscard]] const Watch& watch() const { return watch_; }
    [[nodiscard]] OffsetState state() const;

  private:
    struct ExampleMean {
        std::string of;        // what it is the mean of
        ProbeRequest probe{};  // without its tokens
        int64_t asked = 0, next = 0, used = 0;
        std::vector<double> sum{};
        std::string left_out{};
    };
    void update_mean(const PaneContext& ui, const ProbeRequest& probe, int64_t examples);
    void add_answer();
    void take(const std::vector<float>& values);
    Watch watch_;
    ExampleMean mean_;  // asked 0: of the source alone
    std::vector<OffsetMap> maps_;
    int64_t rows_ = 0, columns_ = 0;
    Range range_{0, 1};
    std::string targets_;
    bool is_by_channel_ = false;
    uint64_t version_ = 0;
};

// ", columns in sub-pixels": a row of a colour picture has the channels of its pixels side by side.
[[nodiscard]] const char* across_words(const ViewState& ui);
// Why the mean over several examples cannot be had: the source is looked at alone; "" = it can.
[[nodiscard]] std::string why_no_examples(const ViewState& ui);
// So many examples, or the source alone.
[[nodiscard]] int64_t examples_averaged(const ViewState& ui, int64_t asked);

// The share at a place of a map; NaN = not visible, or no such place.
[[nodiscard]] float offset_share(const OffsetMaps& maps, size_t map, int64_t row, int64_t column);

// How far a map reaches, in pixels or patches; a row has `channels` columns of each.
struct OffsetReach {
    double sum = 0;       // of the shares; 0: the others are NaN
    double distance = 0;  // the mean, weighted by them
    double near = 0;      // part of them at most 1 away, vertically and horizontally
};
[[nodiscard]] OffsetReach offset_reach(const OffsetMaps& maps, size_t map, int64_t channels);

// The first `count` of them beside each other, in so many columns that they are largest.
[[nodiscard]] viz::AtlasShape offset_shape(const OffsetMaps& maps, int count, ImVec2 area,
                                           float scale);

}  // namespace aft::app
