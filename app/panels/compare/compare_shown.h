// The maps of the slots that Compare draws: of one layer, one head of each, w exactly as it is
// stored. Window thread; returns at once.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/panels/compare/compare_numbers.h"

namespace aft::app {

struct SlotMap {
    // w [rows, columns], laid out as `form` says; null = not there yet.
    std::shared_ptr<const std::vector<float>> w;
    uint64_t version = 0;          // another number = other values; 0 = none
    std::optional<BiasForm> form;  // as its values are laid out: rows in the first slot's order
    int64_t head = 0;              // of the slot's model
    int64_t step = -1;             // of the values
    bool is_pending = false;
    std::string error;  // why there is none
    std::string note;   // "matched, 0.98"
};

// Beside the slot's letter: "run, step 200, after Zero L0, head 2".
[[nodiscard]] std::string map_note(const ComparedSlot& slot, const SlotMap& map);

class ShownMaps {
  public:
    void update(const PaneContext& ui, CompareSlots& slots, const CompareNumbers& numbers);
    [[nodiscard]] const SlotMap& at(size_t slot) const { return maps_.at(slot).map; }
    [[nodiscard]] int64_t layer() const { return layer_; }

  private:
    struct MadeMap {
        SlotMap map;
        FieldSetPtr from;  // what it was made of
        int64_t head = -1;
        std::vector<int64_t> order;
    };
    void update_one(const PaneContext& ui, CompareSlots& slots, const CompareNumbers& numbers,
                    size_t slot);
    std::array<MadeMap, CompareChoice::kMostSlots> maps_;
    int64_t layer_ = 0;
    uint64_t versions_ = 0;
};

}  // namespace aft::app
