// CompareNumbers: the numbers of every layer of two slots, worked out layer by layer in a thread of
// its own: the shown layer first. Of the first slot with each of the others; all layers of the one
// that it is compared with. Window thread; every method returns at once.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "app/panels/compare/compare_slots.h"
#include "app/panels/compare/compare_values.h"
#include "app/state/background.h"

namespace aft::app {

inline constexpr const char* kNoLayerLeft = "No layer of this model is left to match this one.";

class CompareNumbers {
  public:
    static constexpr size_t kMostChanges = 100;  // of a layer, and in the table

    // Once a frame, after CompareSlots::update and before its finish.
    void update(const PaneContext& ui, CompareSlots& slots);
    // Of the first slot with `other`; null: not there yet.
    [[nodiscard]] const LayerNumbers* layer(size_t other, int64_t layer) const;
    [[nodiscard]] int64_t layers(size_t other) const;  // that both have
    [[nodiscard]] int64_t done(size_t other) const;
    [[nodiscard]] bool is_working() const { return is_working_; }
    // The largest of all layers that are there, the largest first.
    [[nodiscard]] const std::vector<HeadChange>& largest() const { return largest_; }
    [[nodiscard]] uint64_t version() const { return version_; }  // grows with every answer

  private:
    struct NumbersEntry {
        std::string key;  // what it was worked out of
        double at = 0;    // when
        std::shared_ptr<const LayerNumbers> numbers;
    };
    struct NumbersAnswer {
        size_t other = 0;
        int64_t layer = 0;
        std::string key;
        std::shared_ptr<const LayerNumbers> numbers;
    };
    struct PairOfSlots {
        std::string key, why_not;
        bool is_moving = false;  // training runs: numbers are renewed at a bounded pace
        std::vector<NumbersEntry> layers;
    };
    void set_pairs(const PaneContext& ui, const CompareSlots& slots);
    void take(double now);
    [[nodiscard]] bool is_fresh(const PairOfSlots& pair, size_t layer, double now) const;
    // False: it must wait for what was asked.
    bool begin(const PaneContext& ui, CompareSlots& slots, size_t other, int64_t layer);
    void put(double now, const NumbersAnswer& answer);
    void collect_largest(size_t other);

    std::array<PairOfSlots, CompareChoice::kMostSlots> pairs_;  // by the other slot; [0] unused
    std::vector<HeadChange> largest_;
    size_t shown_other_ = 1;
    ChangeMeasure changes_by_ = ChangeMeasure::w;  // that `largest_` is sorted by
    uint64_t version_ = 0, collected_ = 0;
    bool is_working_ = false;
    Background<NumbersAnswer> work_;
    std::shared_ptr<const NumbersAnswer> last_;
};

}  // namespace aft::app
