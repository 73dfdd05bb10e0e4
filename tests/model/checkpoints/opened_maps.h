// A file of position biases alone that was written and read again, and its probes. Tests only.
#pragma once
#include <map>

#include "model/checkpoints/checkpoint.h"
#include "model/probe/probe.h"
#include "tests/model/checkpoints/maps_file.h"
#include "tests/model/train/train_fixtures.h"

namespace aft {

struct OpenedMaps {
    explicit OpenedMaps(const nlohmann::json& maps, std::vector<MapsTensor> written_tensors)
        : tensors(std::move(written_tensors)) {
        put_maps(file(), maps_description(maps, 12), tensors);
        checkpoint = read_checkpoint(file());
    }
    [[nodiscard]] std::filesystem::path file() const { return folder / "maps.safetensors"; }
    [[nodiscard]] const MapLayer& layer(int64_t i) const {
        return checkpoint.config.model.maps.layers.at(static_cast<size_t>(i));
    }
    [[nodiscard]] FieldSet probe(const std::string& name, int64_t layer,
                                 const std::map<std::string, std::string>& options = {}) const {
        const Net net = make_net(checkpoint);
        Activations kept;
        JobControl control;
        ProbeRequest request;
        request.probe = name;
        request.layer = layer;
        request.options = options;
        return run_probe({net, checkpoint.step, control, kept}, request);
    }
    Scratch folder;
    std::vector<MapsTensor> tensors;
    Checkpoint checkpoint;
};

}  // namespace aft
