// Reads an NPY file of float32 in C order, as write_npy() writes it. Tests only.
#pragma once
#include <cstring>
#include <filesystem>
#include <sstream>

#include "core/check.h"
#include "core/field.h"
#include "core/files.h"

namespace aft {

// shape and values; throws where the file is another one than that.
inline Field read_npy(const std::filesystem::path& path) {
    const std::string content = read_file(path);
    constexpr size_t kBefore = 10;  // magic, version, length of the header
    AFT_CHECK(content.size() > kBefore && content.starts_with("\x93NUMPY\x01"), "{}: no NPY file",
              path.string());
    const size_t length =
        static_cast<uint8_t>(content[8]) + size_t{256} * static_cast<uint8_t>(content[9]);
    const std::string header = content.substr(kBefore, length);
    const size_t open = header.find("'shape': ("), close = header.find(')');
    AFT_CHECK(header.starts_with("{'descr': '<f4', 'fortran_order': False") &&
                  open != std::string::npos && close != std::string::npos,
              "{}: header {}", path.string(), header);
    Field field;
    std::istringstream extents(header.substr(open + 10, close - open - 10));
    char comma = 0;
    for (int64_t extent = 0; extents >> extent; extents >> comma) field.shape.push_back(extent);
    field.values.resize(static_cast<size_t>(field.size()));
    const size_t bytes = field.values.size() * sizeof(float);
    AFT_CHECK(content.size() == kBefore + length + bytes, "{}: {} bytes of data, expected {}",
              path.string(), content.size() - kBefore - length, bytes);
    if (bytes > 0) std::memcpy(field.values.data(), content.data() + kBefore + length, bytes);
    return field;
}

}  // namespace aft
