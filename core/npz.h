// NPZ: several arrays in one file that numpy.load opens, and the same as CSV. Atomic. Any thread;
// errors name the path.
#pragma once
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace aft {

struct NumberTable {
    std::string name;            // unique; the member of the archive is name.npy
    std::vector<int64_t> shape;  // row-major; product equals values.size()
    std::vector<double> values;  // float64 in the file
    // Of a table with a head, [rows, columns]: its titles, and its cells as they are shown, of
    // which those that are no numbers are NaN in `values`. Else empty.
    std::vector<std::string> columns{}, words{};
};

// Of a table with a head: a header row, then its rows; a cell is its number, else its words.
[[nodiscard]] std::string table_csv(const NumberTable& table);

// A zip without compression of NAME.npy, of NAME.csv too for a table with a head, and of `note` as
// note.json. At most 4 GiB and 65,000
// tables; Error beyond.
void write_npz(const std::filesystem::path& path, std::span<const NumberTable> tables,
               const std::string& note);

// "table,index0,index1,index2,value": a line a value; more than three axes are an Error.
void write_csv(const std::filesystem::path& path, std::span<const NumberTable> tables);

}  // namespace aft
