// The checkpoint formats, one line each; what is written has the first.
#include "core/check.h"
#include "model/checkpoints/format.h"

namespace aft {

FormatRoom safetensors_format();
FormatRoom pt_format();

const std::vector<FormatRoom>& formats() {
    static const std::vector<FormatRoom> rooms{
        safetensors_format(),
        pt_format(),
    };
    return rooms;
}

const at::Tensor* TensorFile::find(const std::string& name) const {
    for (const auto& [known, tensor] : tensors)
        if (known == name) return &tensor;
    return nullptr;
}

TensorFile read_tensors(const std::filesystem::path& path, TensorData values) {
    std::string known;
    for (const FormatRoom& room : formats()) {
        if (room.recognises(path)) return room.read(path, values);
        known += (known.empty() ? "" : ", ") + room.info.name;
    }
    fail("{}: not a file of tensors, or cut off at its start (formats: {})", path.string(), known);
}

void write_tensors(const std::filesystem::path& path, const TensorFile& file) {
    formats().front().write(path, file);
}

}  // namespace aft
