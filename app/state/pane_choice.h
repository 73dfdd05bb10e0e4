// PaneChoice: what single panes choose for themselves and a view file keeps: the parts of
// Attention, how tables are sorted, how far Focus is zoomed in; the sweep that Home shows. Part of
// the one selection. Window thread.
#pragma once
#include <cstdint>
#include <string>

namespace aft::app {

struct FocusZoom {
    int zoom = 0;             // pixels per value as it was chosen; 0 = fit
    float left = 0, top = 0;  // scroll, in pixels
    bool is_exact = false;    // single values although the whole map does not fit
    [[nodiscard]] bool operator==(const FocusZoom&) const = default;
};

struct SweepChoice {
    std::string folder{};  // empty: none is open
    int64_t opening = 0;   // counts: one that is opened again is read again
    [[nodiscard]] bool operator==(const SweepChoice&) const = default;
};

inline constexpr int64_t kMostRelativeExamples = 256;

struct PaneChoice {
    int parts = 0, reduce = 0;      // Attention: which maps, and how channels become one
    int channel_order = 0;          // Attention: its small maps
    int64_t relative_examples = 1;  // Relative: how many it is the mean over
    int structure_sort = 0;         // Structure: 0 = by position, else the column before
    FocusZoom focus{};
    SweepChoice sweep{};
};

}  // namespace aft::app
