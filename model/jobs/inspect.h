// Jobs: what is in a model. Plain types. No LibTorch. Block until done; any thread.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "model/config.h"
#include "model/traits.h"

namespace aft {

struct TensorSummary {
    std::string name, dtype;  // dtype as LibTorch calls it: "Float"
    std::vector<int64_t> shape;
    double min = 0, max = 0;
};
// Position bias w of a head, in nats: of the visible pairs inside the window, for kernels of all
// taps; of maps alone of the values that a visible pair has. NaN where there is none. norm:
// Frobenius. hidden: pairs that w = -inf hides, which do not count.
struct BiasSummary {
    int64_t layer = 0, head = 0;
    double min = 0, max = 0, mean = 0, norm = 0;
    int64_t hidden = 0;
};
// A layer of maps alone, as its file describes it.
struct MapSummary {
    std::string name, layout, gauge;  // "layer 3", "full", "row"
    std::vector<int64_t> grid;
};
struct InspectResult {
    Config config;
    TaskTraits task;     // as published in Status
    int64_t tokens = 0;  // T
    int64_t parameters = 0;
    std::vector<int64_t> parameters_per_layer;
    std::vector<TensorSummary> tensors;
    // Tensors that hold NaN or infinity, but for masks; masks that leave a target no source.
    std::vector<std::string> not_finite;
    std::vector<BiasSummary> bias;  // one per layer and head; empty = no position bias
    std::vector<MapSummary> maps;   // one per layer; empty = not maps alone
    struct Stored {
        std::string file;
        int64_t step = 0;
        std::map<std::string, double> metrics;  // NaN = no number; empty = none were saved
        std::vector<std::string> classes;       // by their labels; empty = the file names none
    };
    std::optional<Stored> stored;  // none: of a preset
};
[[nodiscard]] InspectResult inspect_job(const std::string& model);  // checkpoint or run folder
[[nodiscard]] InspectResult inspect_preset(const Config& config);   // with its initial weights

}  // namespace aft
