#include "core/writers.h"

#include <fmt/format.h>

#include <charconv>
#include <cstring>
#include <functional>
#include <limits>

#include "core/check.h"
#include "core/files.h"

namespace aft {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";

std::string npy_header(const std::vector<int64_t>& shape) {
    std::string extents;
    for (int64_t extent : shape) extents += fmt::format("{}, ", extent);
    if (shape.size() > 1) extents.resize(extents.size() - 2);
    if (shape.size() == 1) extents.resize(extents.size() - 1);
    std::string text =
        fmt::format("{{'descr': '<f4', 'fortran_order': False, 'shape': ({}), }}", extents);
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

void check_shape(const std::filesystem::path& path, const Field& field) {
    AFT_CHECK(field.size() == static_cast<int64_t>(field.values.size()),
              "cannot write '{}': field '{}' has {} values, its shape says {}", path.string(),
              field.name, field.values.size(), field.size());
}

// The value of 'key' in the header's dictionary, up to the next comma outside brackets.
std::string_view header_value(std::string_view header, std::string_view key) {
    const size_t at = header.find(key);
    if (at == std::string_view::npos) return {};
    const size_t colon = header.find(':', at);
    if (colon == std::string_view::npos) return {};
    const size_t start = header.find_first_not_of(' ', colon + 1);
    if (start == std::string_view::npos) return {};
    const size_t end = header[start] == '(' ? header.find(')', start) + 1 : header.find(',', start);
    return header.substr(start, end - start);
}

std::vector<int64_t> parse_shape(std::string_view text, const std::string& path) {
    std::vector<int64_t> shape;
    int64_t total = 1;
    const char* at = text.data();
    const char* end = text.data() + text.size();
    while (at < end) {
        if (*at < '0' || *at > '9') {
            ++at;
            continue;
        }
        int64_t extent = 0;
        const auto result = std::from_chars(at, end, extent);
        AFT_CHECK(result.ec == std::errc() && extent >= 0 &&
                      (extent == 0 || total <= std::numeric_limits<int32_t>::max() / extent),
                  "cannot read '{}': shape {} is too large", path, text);
        total *= extent;
        shape.push_back(extent);
        at = result.ptr;
    }
    return shape;
}

struct ElementType {
    std::string_view name;
    size_t bytes;
    float (*value)(const char*);
};

template <class T>
float element(const char* at) {
    T value;
    std::memcpy(&value, at, sizeof(T));
    return static_cast<float>(value);
}

const ElementType& element_type(std::string_view name, const std::string& path) {
    static const ElementType types[] = {{"<f4", 4, element<float>},   {"<f8", 8, element<double>},
                                        {"<i4", 4, element<int32_t>}, {"<i8", 8, element<int64_t>},
                                        {"|u1", 1, element<uint8_t>}, {"|b1", 1, element<uint8_t>}};
    for (const ElementType& type : types)
        if (type.name == name) return type;
    fail(
        "cannot read '{}': element type '{}'; allowed: float32, float64, int32, int64, uint8, "
        "little endian",
        path, name);
}

struct NpyLayout {
    std::string_view header;
    size_t data_at;
};

NpyLayout npy_layout(const std::string& content, const std::string& path) {
    AFT_CHECK(content.size() >= 10 && std::string_view(content).substr(0, 6) == kMagic,
              "cannot read '{}': not an NPY file (it does not start with \\x93NUMPY)", path);
    const auto byte = [&](size_t at) { return static_cast<uint8_t>(content[at]); };
    const bool wide = byte(6) >= 2;
    AFT_CHECK(byte(6) >= 1 && byte(6) <= 3 && content.size() >= 12,
              "cannot read '{}': NPY version {}, allowed: 1 to 3", path, byte(6));
    size_t length = byte(8) | size_t{byte(9)} << 8;
    if (wide) length |= size_t{byte(10)} << 16 | size_t{byte(11)} << 24;
    const size_t start = wide ? 12 : 10;
    AFT_CHECK(start + length <= content.size(),
              "cannot read '{}': truncated inside its header ({} bytes, header ends at {})", path,
              content.size(), start + length);
    return {std::string_view(content).substr(start, length), start + length};
}

}  // namespace

void write_npy(const std::filesystem::path& path, const Field& field) {
    check_shape(path, field);
    write_atomically(path, [&field](std::ostream& out) {
        out << npy_header(field.shape);
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

Field read_npy(const std::filesystem::path& path) {
    const std::string content = read_file(path);
    const std::string name = path.string();
    const NpyLayout layout = npy_layout(content, name);
    const std::string_view order = header_value(layout.header, "'fortran_order'");
    AFT_CHECK(order == "False", "cannot read '{}': fortran_order is '{}', only False is allowed",
              name, order);
    std::string_view descr = header_value(layout.header, "'descr'");
    if (descr.size() > 2) descr = descr.substr(1, descr.size() - 2);
    const ElementType& type = element_type(descr, name);
    const std::string_view shape_text = header_value(layout.header, "'shape'");
    AFT_CHECK(shape_text.size() >= 2 && shape_text.front() == '(' && shape_text.back() == ')',
              "cannot read '{}': its header has no shape", name);
    Field field;
    field.name = path.stem().string();
    field.shape = parse_shape(shape_text, name);
    for (size_t axis = 0; axis < field.shape.size(); ++axis)
        field.axes.push_back(fmt::format("axis{}", axis));
    const auto count = static_cast<size_t>(field.size());
    const size_t found = content.size() - layout.data_at;
    AFT_CHECK(found == count * type.bytes,
              "cannot read '{}': {} bytes of data, its shape {} needs {}", name, found, shape_text,
              count * type.bytes);
    field.values.resize(count);
    for (size_t i = 0; i < count; ++i)
        field.values[i] = type.value(content.data() + layout.data_at + i * type.bytes);
    return field;
}

}  // namespace aft
