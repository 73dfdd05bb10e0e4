// Numbers to files: NPY (C order, little endian), CSV, SVG text. All atomic. Any thread; errors
// name the path.
#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "core/field.h"

namespace aft {

void write_npy(const std::filesystem::path& path, const Field& field);  // float32
// A header of axis names and "value", then one cell a line.
void write_csv(const std::filesystem::path& path, const Field& field);
// What stands before the values of an NPY file; descr: "<f4", "<f8".
[[nodiscard]] std::string npy_header(const std::vector<int64_t>& shape, const char* descr);
// A text as a cell of a CSV: one line, in quotes where it holds a comma or a quote.
[[nodiscard]] std::string csv_cell(const std::string& text);

}  // namespace aft
