#include "bench/training.h"

namespace aft::bench {
namespace {

// The paper's tiny models of its image classification, on drawn pictures of the same size.
Config image_config(const std::string& preset, bool quick) {
    Config config = load_preset(preset);
    ModelConfig& model = config.model;
    config.data = {.source = quick ? "shapes?size=32" : "shapes?size=224"};
    model.classes = 3;
    if (quick) {
        model.height = model.width = 32;
        model.patch = 8;
        model.layers = 2;
        model.window = model.window > 0 ? 3 : 0;
    }
    config.train.batch = quick ? 2 : 4;
    config.train.micro_batch = 0;
    config.train.recompute = false;
    return config;
}

nlohmann::json race_of(const std::string& preset, const Settings& settings,
                       const JobControl& control) {
    return train_race({.forms = {{"afterimage", "ours", image_config(preset, settings.quick)},
                                 {"the same size with softmax attention (DeiT tiny)", "attention",
                                  image_config("deit-tiny", settings.quick)}},
                       .accept = {{.ratio = 1.0}}},
                      settings, control);
}

std::vector<RowPlan> rows(bool quick) {
    std::vector<RowPlan> plans;
    for (const std::string preset :
         {"imagenet-full-tiny", "imagenet-conv-tiny-32-11", "imagenet-conv-tiny-192-11"}) {
        const std::string name =
            fmt::format("{}, {}", preset, step_words(image_config(preset, quick)));
        plans.push_back({name, [preset](const Settings& settings, const JobControl& control) {
                             return race_of(preset, settings, control);
                         }});
    }
    return plans;
}

}  // namespace

WorkloadRoom step_images_workload() {
    return {.info = {"step_images", "a training step of the paper's tiny image classifiers"},
            .rows = rows};
}

}  // namespace aft::bench
