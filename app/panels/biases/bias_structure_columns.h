// The columns of Structure: what each shows, in which unit, which of them a model has, and the
// words about them. Pure; window thread.
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "app/state/ui.h"

namespace aft::app {

// How a column measures: nothing of that, the distances of "reach" or of "window".
enum class StructureUnit { none, grid, window };

// Columns of the probe "reach", then two of "rank", then those of "symmetry" and of "window". Views
// keep their numbers.
struct StructureColumn {
    const char *title, *sort, *id;
    bool is_share = false, on_grid = false, at_start = false;
    StructureUnit unit = StructureUnit::none;
    const char* tip = "";
};
inline constexpr size_t kStructureNumbers = 21, kOfReach = 8, kOfRank = 2;
inline constexpr size_t kFirstOfSymmetry = kOfReach + kOfRank, kOfSymmetry = 3;
inline constexpr size_t kFirstOfWindow = kFirstOfSymmetry + kOfSymmetry, kOfWindow = 8;
inline constexpr size_t kEvenEdge = kFirstOfWindow + 3, kInside = kFirstOfWindow + 4,
                        kLargest = kFirstOfWindow + 5, kFirstOnGrid = kFirstOfWindow + 6;
static_assert(kFirstOfWindow + kOfWindow == kStructureNumbers);

// By their numbers.
[[nodiscard]] std::span<const StructureColumn, kStructureNumbers> structure_columns();

struct HeadStructure {
    int64_t layer = 0, head = 0;
    std::array<double, kStructureNumbers> numbers{};
};
using StructureRows = std::span<const HeadStructure>;

// Of this model, as they stand on the screen: the same before any of it is read.
[[nodiscard]] std::vector<size_t> shown_columns(const ViewState& ui);
// "pixels"; empty where it has none.
[[nodiscard]] std::string unit_words(const ViewState& ui, const StructureColumn& column);
// With its unit.
[[nodiscard]] std::string title_of(const ViewState& ui, const StructureColumn& column);
// What stands over it and its neighbours, with the unit, and what then stands in its own head.
[[nodiscard]] std::string group_of(const ViewState& ui, size_t index);
[[nodiscard]] std::string short_title(size_t index);
[[nodiscard]] std::string tip_of(const ViewState& ui, size_t index);
[[nodiscard]] bool has_window(const ViewState& ui, int64_t layer);

// What the distances and directions are; what the columns of symmetry are, and which of them this
// model has not.
[[nodiscard]] std::string distance_words(const ViewState& ui);
[[nodiscard]] std::string symmetry_words(const ViewState& ui);
// The designed window with its unit, and where the edge of the chosen layer and head lies.
[[nodiscard]] std::string window_words(const ViewState& ui, StructureRows rows);

}  // namespace aft::app
