// Files of position biases alone, byte by byte, as a stranger's writer makes them. Tests only. No
// LibTorch.
#pragma once
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace aft {

struct MapsTensor {
    std::string name;
    std::vector<int64_t> shape;
    std::vector<float> values;
};

// Values first, first + step, ... of that shape.
inline MapsTensor counted_tensor(const std::string& name, std::vector<int64_t> shape,
                                 float first = 0.25F, float step = 0.125F) {
    size_t count = 1;
    for (const int64_t side : shape) count *= static_cast<size_t>(side);
    MapsTensor out{name, std::move(shape), std::vector<float>(count)};
    for (size_t i = 0; i < count; ++i) out.values[i] = first + step * static_cast<float>(i);
    return out;
}

inline nlohmann::json map_entry(const std::string& name, const std::string& layout,
                                const std::vector<int64_t>& grid,
                                const std::string& gauge = "row") {
    return {{"name", name}, {"layout", layout}, {"grid", grid}, {"gauge", gauge}};
}

inline nlohmann::json maps_of(const std::vector<nlohmann::json>& layers, bool causal = false) {
    return {{"causal", causal}, {"layers", layers}};
}

inline nlohmann::json maps_description(const nlohmann::json& maps, int64_t step = 0) {
    return {{"format_version", 1}, {"task", "maps"}, {"step", step}, {"maps", maps}};
}

inline void put_maps(const std::filesystem::path& file, const nlohmann::json& description,
                     const std::vector<MapsTensor>& tensors) {
    nlohmann::json header{{"__metadata__", {{"afterimage", description.dump()}}}};
    std::string data;
    for (const MapsTensor& tensor : tensors) {
        const size_t begin = data.size();
        data.append(reinterpret_cast<const char*>(tensor.values.data()),
                    tensor.values.size() * sizeof(float));
        header[tensor.name] = {
            {"dtype", "F32"}, {"shape", tensor.shape}, {"data_offsets", {begin, data.size()}}};
    }
    std::string text = header.dump();
    text.resize((text.size() + 7) / 8 * 8, ' ');
    const uint64_t length = text.size();
    std::ofstream out(file, std::ios::binary);
    out.write(reinterpret_cast<const char*>(&length), sizeof length);
    out << text << data;
}

// A layer of each layout, none like another in positions, heads or grid.
inline nlohmann::json mixed_maps(bool causal = false) {
    return maps_of({map_entry("layer 0", "full", {4}), map_entry("window", "full", {2, 3}, "none"),
                    map_entry("near", "band", {5}), map_entry("line", "kernel1d", {7}, "none"),
                    map_entry("square", "kernel2d", {2, 2, 2}, "none")},
                   causal);
}

inline std::vector<MapsTensor> mixed_tensors(float first = 0.25F) {
    return {counted_tensor("biases.0", {4, 4}, first), counted_tensor("biases.1", {2, 6, 6}, first),
            counted_tensor("biases.2", {2, 5, 3}, first), counted_tensor("biases.3", {3, 3}, first),
            counted_tensor("biases.4", {1, 3, 3}, first)};
}

// Two layers alike: full, [heads, 4, 4] on a grid of 2 x 2.
inline nlohmann::json plain_maps() {
    return maps_of({map_entry("first", "full", {2, 2}), map_entry("second", "full", {2, 2})});
}

inline std::vector<MapsTensor> plain_tensors(float first = 0.25F) {
    return {counted_tensor("biases.0", {2, 4, 4}, first),
            counted_tensor("biases.1", {2, 4, 4}, first + 1)};
}

// A run folder as a program writes it that trains elsewhere: config.json and its folders.
inline void put_maps_run(const std::filesystem::path& run) {
    std::filesystem::create_directories(run / "checkpoints");
    std::ofstream(run / "config.json")
        << nlohmann::json{{"name", "mine"}, {"maps", plain_maps()}}.dump();
}

// The next step of it: a line of the log, and a checkpoint.
inline void put_maps_step(const std::filesystem::path& run, int64_t step, float first) {
    std::ofstream(run / "metrics.jsonl", std::ios::app)
        << nlohmann::json{{"step", step},
                          {"loss", 2.0 / static_cast<double>(step + 1)},
                          {"bias_norm.layer.0", 1.5},
                          {"bias_norm.layer.1", 2.5}}
               .dump()
        << "\n";
    std::string digits = std::to_string(step);
    digits.insert(0, 8 - digits.size(), '0');
    const auto file = run / "checkpoints" / ("step-" + digits + ".safetensors");
    const auto part = run / "checkpoints" / "part";
    put_maps(part, maps_description(plain_maps(), step), plain_tensors(first));
    std::filesystem::rename(part, file);
}

}  // namespace aft
