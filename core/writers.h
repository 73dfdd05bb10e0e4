// Numbers to files: NPY (C order, little endian), CSV, SVG text. All atomic. Any thread; errors
// name the path.
#pragma once
#include <cstdint>
#include <filesystem>
#include <string>

#include "core/field.h"

namespace aft {

void write_npy(const std::filesystem::path& path, const Field& field);  // float32
// A header of axis names and "value", then one cell a line.
void write_csv(const std::filesystem::path& path, const Field& field);
// A text as a cell of a CSV: one line, in quotes where it holds a comma or a quote.
[[nodiscard]] std::string csv_cell(const std::string& text);

}  // namespace aft
