// CompareChoice: what the Compare workspace sets side by side, and how. Part of the one selection,
// so that the timeline, the Explorer and the command line can add to it. Window thread.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "model/recipe.h"

namespace aft::app {

// One moment of one model, as it is or after interventions.
struct CompareSlot {
    std::string path{};  // run folder or checkpoint; empty = what is open, as all views show it
    int64_t step = -1;   // a stored step; -1 = the newest
    int64_t head = -1;   // shown instead of the selected or matched one; -1 = that one
    Recipe recipe{};     // its biases are those after this
    std::string recipe_name{};  // of its file; empty: its interventions name it
    [[nodiscard]] bool is_open() const { return path.empty(); }
    [[nodiscard]] bool operator==(const CompareSlot&) const = default;
};

enum class CompareView { side_by_side, flicker, split, difference, ratio };

struct CompareChoice {
    static constexpr size_t kMostSlots = 4;

    std::vector<CompareSlot> slots{};
    CompareView view = CompareView::side_by_side;
    size_t other = 1;     // the slot that is compared with the first one
    double split = 0.5;   // where the second map begins, share of the width
    int lower = 0;        // table or plot below the maps
    bool matches = true;  // heads by similarity, else by their order
    bool matches_layers = false;
    bool links_zoom = true, links_range = true;

    // At the end; false: there are four already.
    bool add(CompareSlot slot) {
        if (slots.size() >= kMostSlots) return false;
        slots.push_back(std::move(slot));
        return true;
    }
    void remove(size_t index) {
        if (index < slots.size()) slots.erase(slots.begin() + static_cast<std::ptrdiff_t>(index));
        other = 1;
    }
};

}  // namespace aft::app
