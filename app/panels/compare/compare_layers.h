// MatchedLayers: which layer of the other slots is which of the first one, by their maps: read
// layer by layer, worked out in a thread of its own, and given to the slots. Only while the layers
// are to be matched. Window thread; returns at once.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/panels/compare/compare_slots.h"
#include "app/state/background.h"
#include "core/compare/head_matching.h"

namespace aft::app {

class MatchedLayers {
  public:
    // Once a frame, right after CompareSlots::update.
    void update(const PaneContext& ui, CompareSlots& slots);
    [[nodiscard]] bool is_working() const { return is_working_; }

  private:
    struct LayersOfPair {
        std::string key;  // what it is worked out of
        bool is_moving = false;
        double at = 0;                  // when it was found
        std::vector<FieldSetPtr> a, b;  // of each layer, as they come
        std::optional<HeadMatching> found;
    };
    struct LayersAnswer {
        size_t other = 0;
        std::string key;
        HeadMatching found;
    };
    void set_key(const PaneContext& ui, const CompareSlots& slots, size_t other);
    void take(double now);
    // False: it must wait for what was asked.
    bool begin(const PaneContext& ui, CompareSlots& slots, size_t other);

    std::array<LayersOfPair, CompareChoice::kMostSlots> pairs_;  // by the other slot; [0] unused
    bool is_working_ = false;
    Background<LayersAnswer> work_;
    std::shared_ptr<const LayersAnswer> last_;
};

}  // namespace aft::app
