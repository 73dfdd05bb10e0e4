// A checkpoint format room: reads and writes named tensors with a JSON text beside them.
// Room = one .cpp with one exported function `FormatRoom NAME_format();`, listed in rooms.cpp.
// Strict reader: every rule of the format is checked before a byte is used; errors name the path
// and the tensor.
#pragma once
#include <ATen/core/Tensor.h>

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/rooms.h"
#include "model/config.h"

namespace aft {

struct TensorFile {
    std::vector<std::pair<std::string, at::Tensor>> tensors;  // CPU, contiguous, file order
    std::map<std::string, std::string> metadata;              // string -> string
    [[nodiscard]] const at::Tensor* find(const std::string& name) const;
};

// left_out: tensors of the meta device, with shapes and dtypes alone
enum class TensorData { read, left_out };

struct FormatRoom {
    RoomInfo info;
    // By content, not by name; false = "not my format".
    bool (*recognises)(const std::filesystem::path&) = nullptr;
    TensorFile (*read)(const std::filesystem::path&, TensorData) = nullptr;
    void (*write)(const std::filesystem::path&,
                  const TensorFile&) = nullptr;  // atomic; nullptr: read only
};

[[nodiscard]] const std::vector<FormatRoom>& formats();
// Tries the rooms; error if none knows the format.
[[nodiscard]] TensorFile read_tensors(const std::filesystem::path& path,
                                      TensorData values = TensorData::read);
// In Afterimage's own format, the first of the list. Atomic.
void write_tensors(const std::filesystem::path& path, const TensorFile& file);

}  // namespace aft
