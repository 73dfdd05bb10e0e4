// The implicit attention of one target of one layer: prior, content and both, as folded maps, and
// its channels in order. Window thread; returns at once.
#pragma once
#include <string>
#include <vector>

#include "app/panels/shared/fold.h"
#include "app/panels/shared/watch.h"

namespace aft::app {

enum class Reduce { gate, mean, channel };  // how the channels become one map
enum class Order { gate, sharpness, divergence };

struct AttentionMap {
    std::vector<float> row;  // [T], shares of the visible sources, NaN = not visible
    Folded folded;
};

struct AttentionChannel {
    int64_t index = 0;
    double gate = 0, sharpness = 0, divergence = 0;  // divergence from the prior, bits
};

class AttentionData {
  public:
    struct Wish {
        int64_t layer = 0, target = 0, channel = -1;
        Reduce reduce = Reduce::gate;
        bool prior = true, content = false;
    };
    void update(Ui& ui, const Wish& wish);
    void sort(Order order);

    [[nodiscard]] bool has_both() const { return !both_.row.empty(); }
    [[nodiscard]] const AttentionMap& prior() const { return prior_; }
    [[nodiscard]] const AttentionMap& content() const { return content_; }
    [[nodiscard]] const AttentionMap& both() const { return both_; }
    [[nodiscard]] const std::vector<AttentionChannel>& channels() const { return channels_; }
    [[nodiscard]] AttentionMap channel_map(const Ui& ui, int64_t channel) const;  // of both
    // Of every layer, the part of this target's row that the position bias gives, 0 to 1; empty
    // where there is none or it has not been asked for.
    [[nodiscard]] const std::vector<double>& priors() const { return priors_; }
    [[nodiscard]] bool priors_are_old() const { return !priors_watch_.is_current(); }
    [[nodiscard]] uint64_t version() const { return version_; }  // of the channels
    [[nodiscard]] const Watch& watch() const { return both_watch_; }
    [[nodiscard]] bool is_pending() const;
    [[nodiscard]] const std::string& error() const { return both_watch_.error(); }
    [[nodiscard]] bool has_gates() const { return has_gates_; }
    [[nodiscard]] bool is_by_head() const { return is_by_head_; }  // rows of softmax attention

  private:
    void take_both(const Ui& ui, const Wish& wish);
    void take_part(const Ui& ui, const Watch& watch, AttentionMap& out);
    void take_priors(Ui& ui, const Wish& wish, ProbeRequest request);
    Watch prior_watch_, content_watch_, both_watch_, priors_watch_;
    AttentionMap prior_, content_, both_;
    std::vector<AttentionChannel> channels_;
    std::vector<double> priors_;
    double rest_until_ = 0;  // a target that keeps moving does not ask for all layers
    Wish taken_;
    Order order_ = Order::gate;
    uint64_t version_ = 0, maps_ = 0;
    bool has_gates_ = true, is_by_head_ = false;
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
// Of the folded maps, for their common range; at least a little above 0.
[[nodiscard]] double largest_share(const AttentionData& data, bool with_content);
[[nodiscard]] double divergence_bits(std::span<const float> row, std::span<const float> from);

}  // namespace aft::app
