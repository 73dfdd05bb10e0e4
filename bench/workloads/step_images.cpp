#include "bench/workloads/kept_softmax.h"
#include "bench/workloads/paper_configs.h"
#include "bench/workloads/training.h"

namespace aft::bench {
namespace {

TrainCase case_of(const std::string& preset, bool quick) {
    return {.forms = {{"afterimage", "ours", image_config(preset, quick)},
                      {"the same size with softmax attention (DeiT tiny)", "attention",
                       image_config("deit-tiny", quick)}},
            .accept = {{.ratio = 1.0}}};
}

// Without gradients beside attention as it was usual when AFT was published, too.
TrainCase inference_case(const std::string& preset, bool quick) {
    add_kept_softmax();
    TrainCase one = case_of(preset, quick);
    one.forms.push_back({"the same, scores kept", "attention", one.forms.back().config});
    one.forms.back().config.model.mixer = kKeptSoftmax;
    return one;
}

std::vector<RowPlan> rows(bool quick) {
    std::vector<RowPlan> plans;
    for (const std::string preset :
         {"imagenet-full-tiny", "imagenet-conv-tiny-32-11", "imagenet-conv-tiny-192-11"}) {
        const Config config = image_config(preset, quick);
        plans.push_back({fmt::format("{}, {}", preset, step_words(config)),
                         [preset](const BenchSettings& settings, const JobControl& control) {
                             return train_race(case_of(preset, settings.quick), settings, control);
                         }});
        plans.push_back(
            {fmt::format("{}, inference, {} pictures a pass", preset, config.train.batch),
             [preset](const BenchSettings& settings, const JobControl& control) {
                 return infer_race(inference_case(preset, settings.quick), settings, control);
             }});
    }
    return plans;
}

}  // namespace

WorkloadRoom step_images_workload() {
    return {.info = {"step_images",
                     "the paper's tiny image classifiers: a training step, and inference"},
            .rows = rows};
}

}  // namespace aft::bench
