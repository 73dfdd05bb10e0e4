// SweepTable: table.json of a sweep's folder (docs/sweeps.md), read defensively: what its points
// measured, and where their runs lie. Plain data; blocks on the file; any thread.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace aft::app {

struct SweepSeed {  // one run
    int64_t seed = 0;
    std::string folder{}, state{}, error{};
    double value = 0;  // of the metric; NaN: none yet
};

struct SweepRow {  // one point of the grid
    std::string name{}, paper{};
    std::vector<std::string> settings{};                  // by SweepTable::keys; "" = not set
    int64_t runs = 0;                                     // that are done
    double mean = 0, deviation = 0, least = 0, most = 0;  // NaN where there are too few
    std::vector<SweepSeed> seeds{};
};

struct SweepTable {
    std::string name{}, sentence{}, paper{}, metric{}, split{};
    std::vector<std::string> keys{};  // that differ between points
    std::vector<SweepRow> rows{};
    [[nodiscard]] int64_t count(const char* state) const;  // of all runs: done, failed, open
};

// It has a table, and is no run itself.
[[nodiscard]] bool is_sweep_folder(const std::string& path);
// Error that begins with the file. A run that is not where the table says is looked for in
// `folder`.
[[nodiscard]] SweepTable read_sweep_table(const std::string& folder);
// Of the table's file: whether it is another one than before.
struct TableStamp {
    int64_t changed_ns = -1, size = -1;  // -1: it is not there
    [[nodiscard]] bool operator==(const TableStamp&) const = default;
};
[[nodiscard]] TableStamp sweep_table_stamp(const std::string& folder);
// "w=2,seed=1": the first of the runs that lie in a sweep's folder; "" = none does.
[[nodiscard]] std::string run_of_sweep(const std::string& folder);
// The number that a text begins with ("1.73 bits"); NaN: with none.
[[nodiscard]] double leading_number(const std::string& text);

}  // namespace aft::app
