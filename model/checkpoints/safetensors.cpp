// safetensors: u64 little-endian header length, JSON header, tensor bytes
// (github.com/huggingface/safetensors, format 0.x). Strict: every rule is checked before a byte is
// used, and no more memory is taken than the file has bytes. Written sorted by alignment, then
// name, atomically.
#include <ATen/ATen.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <fstream>

#include "core/check.h"
#include "core/files.h"
#include "core/outside.h"
#include "model/checkpoints/format.h"
#include "model/checkpoints/tensor_header.h"

namespace aft {
namespace {

constexpr uint64_t kLengthBytes = 8;

constexpr std::array<std::pair<const char*, c10::ScalarType>, 13> kTypes{{
    {"F64", c10::ScalarType::Double},
    {"F32", c10::ScalarType::Float},
    {"F16", c10::ScalarType::Half},
    {"BF16", c10::ScalarType::BFloat16},
    {"I64", c10::ScalarType::Long},
    {"I32", c10::ScalarType::Int},
    {"I16", c10::ScalarType::Short},
    {"I8", c10::ScalarType::Char},
    {"U64", c10::ScalarType::UInt64},
    {"U32", c10::ScalarType::UInt32},
    {"U16", c10::ScalarType::UInt16},
    {"U8", c10::ScalarType::Byte},
    {"BOOL", c10::ScalarType::Bool},
}};

// The type of a dtype that the header's reader has accepted.
c10::ScalarType type_of(const std::string& dtype) {
    for (const auto& [name, type] : kTypes)
        if (dtype == name) return type;
    fail("dtype {} has no tensors", shown(dtype));
}

std::string dtype_name(c10::ScalarType type, const std::string& where) {
    for (const auto& [name, known] : kTypes)
        if (type == known) return name;
    fail("{}: tensors of LibTorch type {} cannot be stored", where, c10::toString(type));
}

uint64_t file_bytes(const fs::path& path) {
    std::error_code error;
    const fs::file_status status = fs::status(path, error);
    if (!fs::exists(status)) fail("{}: no such file", path.string());
    if (fs::is_directory(status)) fail("{}: is a folder, expected a file", path.string());
    if (!fs::is_regular_file(status)) fail("{}: is not a regular file", path.string());
    const uint64_t bytes = fs::file_size(path, error);
    if (error) fail("{}: {}", path.string(), error.message());
    return bytes;
}

void read_exactly(std::ifstream& in, char* to, uint64_t bytes, const fs::path& path) {
    in.read(to, static_cast<std::streamsize>(bytes));
    if (static_cast<uint64_t>(in.gcount()) != bytes)
        fail("{}: the file ended early, or cannot be read", path.string());
}

uint64_t read_length(std::ifstream& in, const fs::path& path) {
    uint64_t length = 0;
    char bytes[kLengthBytes];
    read_exactly(in, bytes, kLengthBytes, path);
    std::memcpy(&length, bytes, kLengthBytes);
    return length;
}

// By content: a plausible file is longer than its length field and its header opens an object.
bool recognises(const fs::path& path) {
    if (file_bytes(path) <= kLengthBytes) return false;
    std::ifstream in(path, std::ios::binary);
    if (!in) fail("{}: cannot be opened for reading", path.string());
    char start[kLengthBytes + 1];
    read_exactly(in, start, sizeof start, path);
    return start[kLengthBytes] == '{';
}

// Bytes other than 0 and 1 in a bool tensor are undefined behaviour further on.
void check_bools(const at::Tensor& tensor, const std::string& name, const fs::path& path) {
    const auto* bytes = static_cast<const uint8_t*>(tensor.const_data_ptr());
    if (std::any_of(bytes, bytes + tensor.numel(), [](uint8_t b) { return b > 1; }))
        fail("{}: tensor '{}' is BOOL but holds bytes other than 0 and 1", path.string(),
             shown(name));
}

TensorFile read(const fs::path& path, TensorData values) {
    const uint64_t total = file_bytes(path);
    std::ifstream in(path, std::ios::binary);
    if (!in) fail("{}: cannot be opened for reading", path.string());
    if (total <= kLengthBytes) fail("{}: too short for a safetensors file", path.string());
    const uint64_t length = read_length(in, path);
    const uint64_t most = std::min(kMaxHeaderBytes, total - kLengthBytes);
    if (length > most)
        fail(
            "{}: the safetensors header claims {} bytes, at most {} are possible (file cut off, or "
            "not safetensors)",
            path.string(), length, most);
    std::string text(length, '\0');
    read_exactly(in, text.data(), length, path);
    TensorHeader header = parse_tensor_header(text, total - kLengthBytes - length, path.string());

    TensorFile file;
    file.metadata = std::move(header.metadata);
    for (const TensorEntry& entry : header.tensors) {
        const at::ScalarType type = type_of(entry.dtype);
        if (values == TensorData::left_out) {
            file.tensors.emplace_back(
                entry.name, at::empty(entry.shape, at::TensorOptions(at::kMeta).dtype(type)));
            continue;
        }
        at::Tensor tensor = at::empty(entry.shape, type);
        read_exactly(in, static_cast<char*>(tensor.mutable_data_ptr()), entry.end - entry.begin,
                     path);
        if (entry.dtype == "BOOL") check_bools(tensor, entry.name, path);
        file.tensors.emplace_back(entry.name, std::move(tensor));
    }
    return file;
}

struct NamedPart {
    std::string name;
    at::Tensor tensor;
};

std::vector<NamedPart> sorted_parts(const TensorFile& file) {
    std::vector<NamedPart> parts;
    for (const auto& [name, tensor] : file.tensors)
        parts.push_back({name, tensor.detach().cpu().contiguous()});
    std::sort(parts.begin(), parts.end(), [](const NamedPart& a, const NamedPart& b) {
        const auto sa = a.tensor.element_size(), sb = b.tensor.element_size();
        return sa != sb ? sa > sb : a.name < b.name;
    });
    return parts;
}

TensorHeader header_of(const std::vector<NamedPart>& parts, const TensorFile& file,
                       const fs::path& path) {
    TensorHeader header{.tensors = {}, .metadata = file.metadata};
    uint64_t at = 0;
    for (const NamedPart& part : parts) {
        const bool twice = !header.tensors.empty() && header.tensors.back().name == part.name;
        AFT_ASSERT(!twice && part.name != "__metadata__");
        const auto where = path.string() + ": tensor '" + part.name + "'";
        header.tensors.push_back({.name = part.name,
                                  .dtype = dtype_name(part.tensor.scalar_type(), where),
                                  .shape = part.tensor.sizes().vec(),
                                  .begin = at,
                                  .end = at + part.tensor.nbytes()});
        at += part.tensor.nbytes();
    }
    return header;
}

void write(const fs::path& path, const TensorFile& file) {
    const std::vector<NamedPart> parts = sorted_parts(file);
    const std::string header = print_tensor_header(header_of(parts, file, path));
    const uint64_t length = header.size();
    write_atomically(path, [&](std::ostream& out) {
        out.write(reinterpret_cast<const char*>(&length), kLengthBytes);
        out.write(header.data(), static_cast<std::streamsize>(header.size()));
        for (const NamedPart& part : parts)
            out.write(static_cast<const char*>(part.tensor.const_data_ptr()),
                      static_cast<std::streamsize>(part.tensor.nbytes()));
    });
}

}  // namespace

FormatRoom safetensors_format() {
    return {.info = {"safetensors",
                     "Named tensors with a JSON header: Afterimage's own checkpoints "
                     "and the interchange format of most libraries."},
            .recognises = recognises,
            .read = read,
            .write = write};
}

}  // namespace aft
