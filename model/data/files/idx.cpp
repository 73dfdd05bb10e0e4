#include "model/data/files/idx.h"

#include <string_view>

#include "core/check.h"
#include "model/data/files/gunzip.h"

namespace aft {
namespace {

uint32_t big_endian(std::string_view bytes, size_t at) {
    uint32_t value = 0;
    for (size_t i = 0; i < 4; ++i) value = value << 8 | static_cast<uint8_t>(bytes[at + i]);
    return value;
}

// From the header's extents: the bytes of the whole file. The data follow the extents.
uint64_t read_extents(std::string_view head, size_t dimensions, Idx& idx, const std::string& name) {
    idx.data_at = 4 + 4 * dimensions;
    const uint32_t magic = big_endian(head, 0);
    const auto expected = static_cast<uint32_t>(0x800 + dimensions);
    AFT_CHECK(magic == expected,
              "'{}': begins with {:#010x}, an idx file of {} dimension(s) with "
              "{:#010x}",
              name, magic, dimensions, expected);
    uint64_t total = 1;
    for (size_t i = 0; i < dimensions; ++i) {
        const uint64_t extent = big_endian(head, 4 + 4 * i);
        AFT_CHECK(extent > 0 && extent <= kMaxIdxBytes / total, "'{}': extent {} is {}", name, i,
                  extent);
        total *= extent;
        idx.shape.push_back(static_cast<int64_t>(extent));
    }
    return idx.data_at + total;
}

}  // namespace

Idx parse_idx(std::string file, const IdxForm& form, const std::string& name) {
    Idx idx;
    const size_t head_bytes = 4 + 4 * form.dimensions;
    const auto total_of = [&](std::string_view head) {
        return read_extents(head, form.dimensions, idx, name);
    };
    if (form.is_packed) {
        idx.bytes = gunzip(file, name, {head_bytes, total_of});
        return idx;
    }
    idx.bytes = std::move(file);
    AFT_CHECK(idx.bytes.size() >= head_bytes, "'{}': {} bytes, its header alone has {}", name,
              idx.bytes.size(), head_bytes);
    const uint64_t total = total_of(idx.bytes);
    AFT_CHECK(idx.bytes.size() == total, "'{}': {} bytes of data, its header says {}", name,
              idx.bytes.size() - head_bytes, total - head_bytes);
    return idx;
}

}  // namespace aft
