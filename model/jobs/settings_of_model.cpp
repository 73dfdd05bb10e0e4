// The settings of a model from its header alone, without its tensors.
#include <fstream>

#include "core/check.h"
#include "core/outside.h"
#include "model/checkpoints/description.h"
#include "model/checkpoints/run_paths.h"
#include "model/checkpoints/tensor_header.h"
#include "model/jobs/train.h"

namespace aft {
namespace {

// The metadata of a safetensors file; empty where it is none.
std::map<std::string, std::string> metadata_of(const fs::path& path) {
    std::ifstream in(path, std::ios::binary);
    if (!in) fail("{}: cannot be opened for reading", shown_path(path.string()));
    const uint64_t total = fs::file_size(path);
    uint64_t length = 0;
    in.read(reinterpret_cast<char*>(&length), sizeof length);
    if (!in || length > kMaxHeaderBytes || total - sizeof length < length) return {};
    std::string text(length, '\0');
    in.read(text.data(), static_cast<std::streamsize>(length));
    if (!in || !text.starts_with('{')) return {};
    return parse_tensor_header(text, total - sizeof length - length, path.string()).metadata;
}

}  // namespace

Config settings_of_model(const std::string& model) {
    if (is_run_folder(model)) return load_run_config((fs::path(model) / "config.json").string());
    if (!fs::is_regular_file(model))
        fail("{}: no such model (expected a checkpoint file or a run folder)", shown_path(model));
    const Description found = parse_description(metadata_of(model), shown_path(model));
    if (!found.maps.is_null())
        fail("{}: holds position biases alone, which cannot be trained", shown_path(model));
    return stored_config(found.config, shown_path(model));
}

}  // namespace aft
