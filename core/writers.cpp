#include "core/writers.h"

#include <fmt/format.h>

#include "core/check.h"
#include "core/files.h"
#include "core/outside.h"

namespace aft {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";

void check_shape(const std::filesystem::path& path, const Field& field) {
    AFT_CHECK(field.size() == static_cast<int64_t>(field.values.size()),
              "cannot write '{}': field '{}' has {} values, its shape says {}", path.string(),
              field.name, field.values.size(), field.size());
}

}  // namespace

std::string npy_header(const std::vector<int64_t>& shape, const char* descr) {
    std::string extents;
    for (int64_t extent : shape) extents += fmt::format("{}, ", extent);
    if (shape.size() > 1) extents.resize(extents.size() - 2);
    if (shape.size() == 1) extents.resize(extents.size() - 1);
    std::string text =
        fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}", descr, extents);
    // The data must begin at a multiple of 64 bytes; the header ends with a new line.
    const size_t before = kMagic.size() + 4;
    text.append(63 - (before + text.size()) % 64, ' ');
    text += '\n';
    std::string out(kMagic);
    out += {'\x01', '\x00'};
    out += static_cast<char>(text.size() & 0xff);
    out += static_cast<char>(text.size() >> 8);
    return out + text;
}

void write_npy(const std::filesystem::path& path, const Field& field) {
    check_shape(path, field);
    write_atomically(path, [&field](std::ostream& out) {
        out << npy_header(field.shape, "<f4");
        out.write(reinterpret_cast<const char*>(field.values.data()),
                  static_cast<std::streamsize>(field.values.size() * sizeof(float)));
    });
}

void write_csv(const std::filesystem::path& path, const Field& field) {
    check_shape(path, field);
    write_atomically(path, [&field](std::ostream& out) {
        for (size_t axis = 0; axis < field.shape.size(); ++axis)
            out << (axis < field.axes.size() ? field.axes[axis] : fmt::format("axis{}", axis))
                << ',';
        out << "value\n";
        std::vector<int64_t> index(field.shape.size(), 0);
        for (float value : field.values) {
            for (int64_t place : index) out << place << ',';
            out << fmt::format("{}\n", value);
            for (size_t axis = index.size(); axis-- > 0;) {
                if (++index[axis] < field.shape[axis]) break;
                index[axis] = 0;
            }
        }
    });
}

std::string csv_cell(const std::string& text) {
    const std::string line = printable_line(text);
    if (line.find_first_of(",\"") == std::string::npos) return line;
    std::string quoted = "\"";
    for (const char c : line) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
    return quoted + "\"";
}

}  // namespace aft
