// What a run has logged, as columns of numbers. Plain types: they cross threads and the interface
// of the session.
#pragma once
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/number_column.h"

namespace aft {

struct Event {
    int64_t step = 0;
    std::string kind, text;
};  // kind: save, learning-rate, setting, target, rewind, lost, note, error

// Behind "train.clip = 1", the text of a changed setting, where that takes changes back: the
// setting has a value again that it had before them.
inline constexpr std::string_view kUndone = " (undone)";

// One entry per logged step in every column; what is missing in a row is NaN. A copy shares the
// numbers: it costs O(columns + events), whatever the rows, and stays as it is while the original
// grows.
struct Curves {
    NumberColumn step;
    // "loss", "bits_per_dim", "validation.loss", "grad_norm", "lr", "timing.step_ms", ...
    std::map<std::string, NumberColumn> columns;
    std::vector<Event> events;
    uint64_t version = 0;  // grows with every change
};

void add_row(Curves& curves, int64_t step, const std::map<std::string, double>& values);

// Appends whole lines of the run's metrics.jsonl from byte `offset` on, about 8 MiB of them, and
// moves `offset` behind them. False: nothing more, but perhaps a torn last line. Throws aft::Error
// at a line that is no JSON object, with file and byte. Blocks on the file: not in the window's
// thread.
bool read_rows(const std::filesystem::path& run, uint64_t& offset, Curves& curves);
// The same of whole lines in memory, which begin at byte `offset` of the file.
void append_rows(std::string_view lines, const std::filesystem::path& file, uint64_t& offset,
                 Curves& curves);

// The last value of a column; NaN where there is none.
[[nodiscard]] double last_value(const Curves& curves, const std::string& column);

}  // namespace aft
