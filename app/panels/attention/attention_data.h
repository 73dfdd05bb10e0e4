// The implicit attention of one target of one layer: prior, content and both, as folded maps, and
// its channels in order. Window thread; returns at once.
#pragma once
#include <string>
#include <vector>

#include "app/panels/shared/fold.h"
#include "app/panels/shared/watch.h"
#include "app/state/probe_options.h"

namespace aft::app {

enum class Order { gate, sharpness, divergence };

struct AttentionMap {
    std::vector<float> row;  // [T], shares of the visible sources, NaN = not visible
    Folded folded;
    std::vector<uint8_t> masked{};  // [T], 1 = w = -inf hides it; empty = none
    [[nodiscard]] bool is_masked(int64_t source) const {
        return source >= 0 && size_t(source) < masked.size() && masked[size_t(source)] != 0;
    }
};

struct AttentionChannel {
    int64_t index = 0;
    double gate = 0, sharpness = 0, divergence = 0;  // divergence from the prior, bits
};

// What is there of the last request.
struct AttentionRows {
    AttentionMap prior{}, content{}, both{};
    std::vector<AttentionChannel> channels{};
    // Of every layer, the part of this target's row that the position bias gives, 0 to 1; empty
    // where there is none or it has not been asked for.
    std::vector<double> priors{};
    uint64_t version = 0;  // of the channels
    bool has_gates = true;
    bool is_by_head = false;  // rows of softmax attention
    [[nodiscard]] bool has_both() const { return !both.row.empty(); }
};

class AttentionData {
  public:
    struct Request {
        int64_t layer = 0, target = 0, channel = -1;
        Reduce reduce = Reduce::gate;
        bool prior = true, content = false;
    };
    void update(PaneContext& ui, const Request& request);
    void sort(Order order);

    [[nodiscard]] const AttentionRows& rows() const { return rows_; }
    [[nodiscard]] AttentionMap channel_map(const ModelView& ui, int64_t channel) const;  // of both
    [[nodiscard]] bool priors_are_old() const { return !watches_.priors.is_current(); }
    [[nodiscard]] bool priors_are_pending() const { return watches_.priors.is_pending(); }
    [[nodiscard]] const Watch& watch() const { return watches_.both; }
    [[nodiscard]] bool is_pending() const;
    [[nodiscard]] const std::string& error() const { return watches_.both.error(); }

  private:
    void take_both(const ModelView& ui, const Request& request);
    void take_part(const ModelView& ui, const Watch& watch, AttentionMap& out);
    void take_priors(PaneContext& ui, const Request& request, ProbeRequest probe);
    struct Watches {
        Watch prior{}, content{}, both{}, priors{};
    } watches_;
    AttentionRows rows_;
    double rest_until_ = 0;  // a target that keeps moving does not ask for all layers
    Request taken_;
    Order order_ = Order::gate;
    uint64_t maps_ = 0;  // that were folded
};

struct RowNumbers {
    double entropy = 0, distance = 0, inside = 0;  // bits, cells, share
};
// inside: share of the sources within `window` positions.
[[nodiscard]] RowNumbers row_numbers(const Positions& positions, const AttentionMap& map,
                                     int64_t target, int64_t window);
// The share that a map shows for a source: the sum over the channels of its pixel; of the source
// alone where it has no cell (start, class token). NaN = not visible.
[[nodiscard]] float shown_share(const Positions& positions, const AttentionMap& map,
                                int64_t source);
// Marks the sources of a row that w = -inf hides: the order and the window alone would show them.
void mark_masked(const Status& status, const ProbeRequest& of, AttentionMap& map);
// Of the folded maps, for their common range; at least a little above 0.
[[nodiscard]] double largest_share(const AttentionData& data, bool with_content);
[[nodiscard]] double divergence_bits(std::span<const float> row, std::span<const float> from);

}  // namespace aft::app
