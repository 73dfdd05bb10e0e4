// The settings of a model from its header alone, without its tensors.
#include <fstream>

#include "core/check.h"
#include "core/data_spec.h"
#include "core/files.h"
#include "core/outside.h"
#include "model/checkpoints/checkpoint.h"
#include "model/checkpoints/description.h"
#include "model/checkpoints/tensor_header.h"
#include "model/data/loader.h"
#include "model/decode/input.h"
#include "model/jobs/train.h"

namespace aft {
namespace {

// The metadata of a safetensors file; empty where it is none.
std::map<std::string, std::string> metadata_of(const fs::path& path) {
    std::error_code problem;
    if (!fs::is_regular_file(path, problem))
        fail("{}: no such model (expected a checkpoint file or a run folder)",
             shown_path(path.string()));
    const uint64_t total = fs::file_size(path, problem);
    std::ifstream in(path, std::ios::binary);
    if (!in || problem) fail("{}: cannot be opened for reading", shown_path(path.string()));
    uint64_t length = 0;
    in.read(reinterpret_cast<char*>(&length), sizeof length);
    if (!in || total < sizeof length || length > kMaxHeaderBytes || total - sizeof length < length)
        return {};
    std::string text(length, '\0');
    in.read(text.data(), static_cast<std::streamsize>(length));
    if (!in || !text.starts_with('{')) return {};
    return parse_tensor_header(text, total - sizeof length - length, path.string()).metadata;
}

}  // namespace

ModelSettings settings_of_model(const std::string& model) {
    const fs::path path = resolve_model(model);
    const Description found = parse_description(metadata_of(path), shown_path(path.string()));
    if (!found.maps.is_null())
        fail("{}: holds position biases alone, which cannot be trained", shown_path(model));
    Checkpoint header;
    header.config = stored_config(found.config, shown_path(path.string()));
    header.data = found.data;
    if (task_traits(header.config.model).is_mixer_alone)
        fail_usage(
            "--from {}: a mixer alone has no task to be trained for; with --preset NAME "
            "its mixer is taken into a whole model; inspect, probe bias, compare, export and run "
            "--part mixer --layer N work "
            "on it as it is",
            shown_path(model));
    return {.config = header.config, .alphabet = alphabet_of(header)};
}

std::string data_for_model(const std::string& source, const ModelSettings& settings) {
    DataSpec parts = split_data_spec(source);
    const Spec given = parse_spec(source);
    for (const auto& [key, value] :
         spec_for_model(given, settings.config.model, settings.alphabet).options)
        if (!given.options.contains(key))
            parts.options += fmt::format("{}{}={}", parts.options.empty() ? "?" : "&", key, value);
    return parts.text();
}

}  // namespace aft
