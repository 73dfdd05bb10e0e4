// RunNotes: what the window keeps of a run for its user: a name, a tag and a note, the pins, the
// locked cell, the mask of Complete, the list of the Lab, the standing experiments, the overlaid
// runs and notes at steps; and KeptView, how maps and brush were set last. Both as JSON in the
// user's settings, read defensively. Pure; any thread.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "app/state/cell.h"
#include "app/state/experiments.h"
#include "app/state/note_list.h"

namespace aft::app {

struct KeptMask {
    int64_t height = 0, width = 0;
    std::vector<uint8_t> values{};  // [height, width], 1 = to be filled; empty: none is kept
    [[nodiscard]] bool operator==(const KeptMask&) const = default;
};

inline constexpr size_t kMostOverlays = 8;

struct RunNotes {
    std::string name{}, tag{}, note{};
    std::vector<Pin> pins{};  // the newest is last
    std::optional<Cell> locked{};
    KeptMask mask{};
    Recipe recipe{};  // of the Lab
    Experiments experiments{};
    std::vector<std::string> overlays{};  // runs that Train draws with it
    StepNotes step_notes{};  // that are not in its folder; "": one of the folder is not shown
    [[nodiscard]] bool operator==(const RunNotes&) const = default;
    [[nodiscard]] bool is_empty() const { return *this == RunNotes(); }
};

struct KeptView {  // enumerations by their number; how Selection and its mask begin
    int quantity = 1, gauge = 0, range_mode = 1, scale = -1;  // scale -1: as a selection begins
    int tool = 0;
    int64_t brush = 1;
    [[nodiscard]] bool operator==(const KeptView&) const = default;
};

[[nodiscard]] nlohmann::json notes_to_json(const RunNotes& notes);
// left_out: as in experiments_from_json().
[[nodiscard]] RunNotes notes_from_json(const nlohmann::json& j,
                                       std::vector<std::string>* left_out = nullptr);
[[nodiscard]] nlohmann::json view_to_json(const KeptView& view);
[[nodiscard]] KeptView view_from_json(const nlohmann::json& j);

}  // namespace aft::app
