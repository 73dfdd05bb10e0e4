// Cells of a model and pins: what is pointed at, locked and kept. Plain data; any thread.
#pragma once
#include <cstdint>
#include <string>

namespace aft::app {

// A cell of a model: what hover previews and click locks. Indices are those of the model: -1 =
// none.
struct Cell {
    int64_t layer = 0, head = -1, channel = -1;
    int64_t target = -1, source = -1;  // positions t and j
    int64_t tap = -1;                  // of a conv kernel, row-major
    [[nodiscard]] bool operator==(const Cell&) const = default;
};

struct Pin {  // a kept moment and place
    Cell cell;
    int64_t step = -1;
    std::string words;   // "L3 h7"
    std::string note{};  // the user's name for it
    [[nodiscard]] const std::string& shown() const { return note.empty() ? words : note; }
    [[nodiscard]] bool operator==(const Pin&) const = default;
};

[[nodiscard]] std::string cell_words(const Cell& cell);  // "L3 h7", "L1 t 182"

}  // namespace aft::app
