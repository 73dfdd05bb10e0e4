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
};

// A zip without compression of NAME.npy, and of `note` as note.json. At most 4 GiB and 65,000
// tables; Error beyond.
void write_npz(const std::filesystem::path& path, std::span<const NumberTable> tables,
               const std::string& note);

// "table,index0,index1,index2,value": a line a value; more than three axes are an Error.
void write_csv(const std::filesystem::path& path, std::span<const NumberTable> tables);

}  // namespace aft
