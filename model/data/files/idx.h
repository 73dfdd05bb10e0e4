// An idx file (LeCun): big-endian magic 0x800 + dimensions, an extent each, then bytes. Any thread.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace aft {

constexpr uint64_t kMaxIdxBytes = uint64_t{1} << 30;

struct Idx {
    std::vector<int64_t> shape;
    std::string bytes;  // unpacked, header included
    size_t data_at = 0;
};

struct IdxForm {
    size_t dimensions = 1;
    bool is_packed = false;  // gzip
};
// Error, naming the file, unless the file has this form and holds exactly what its extents say.
[[nodiscard]] Idx parse_idx(std::string file, const IdxForm& form, const std::string& name);

}  // namespace aft
