// Peak memory of a whole model: weights, gradients, optimizer and activations of training steps, or
// weights and activations of a forward pass, each from nothing. Beside softmax attention by the
// best kernel, and as it was usual when AFT was published, with its scores kept (Zhai et al. 2021,
// section 5.1).
#include <c10/core/GradMode.h>

#include <algorithm>

#include "bench/kept_softmax.h"
#include "bench/peak.h"
#include "bench/rounds.h"
#include "bench/training.h"
#include "model/train/trainer.h"

namespace aft::bench {
namespace {

using nlohmann::json;

struct NetForm {
    std::string name, group;
    Config config;
};

Config config_of(const std::string& mixer, bool quick) {
    Config config = pixel_config(mixer, quick);
    config.model.layers = 4;
    config.train.steps = 1000;
    config.train.validate_every = 0;
    config.check();
    return config;
}

std::vector<NetForm> forms_of(const std::string& mixer, bool quick) {
    add_kept_softmax();
    const Config softmax = config_of("softmax", quick);
    std::vector<NetForm> forms{{"afterimage", "ours", config_of(mixer, quick)},
                               {"softmax attention, best kernel", "attention", softmax},
                               {"softmax attention, scores kept", "attention", softmax}};
    forms.back().config.model.mixer = kKeptSoftmax;
    return forms;
}

void train(const Config& config) {
    Trainer trainer(config, at::kCPU);
    for (int i = 0; i < 2; ++i) {  // the second has the optimizer's averages from the start
        const StepReport report = trainer.step();
        if (!report.failure.empty()) fail("bench: {}", report.failure);
    }
}

void infer(const Config& config) {
    const c10::NoGradGuard off;
    const Net net(config.model, 1);
    const at::Tensor tokens = at::zeros({1, config.model.tokens()}, at::kLong);
    static_cast<void>(net.forward(tokens, {}));
}

using Work = void (*)(const Config&);

json row_of(const std::vector<NetForm>& forms, Work work, const BenchSettings& settings,
            const JobControl& control) {
    json peaks = json::array();
    work(forms[1].config);  // brings what libraries keep for good
    for (const NetForm& form : forms) {
        if (control.stop.stop_requested()) throw Interrupted();
        const std::optional<int64_t> above = peak_above([&] { work(form.config); });
        peaks.push_back({{"name", form.name},
                         {"group", form.group},
                         {"ours", form.group == "ours"},
                         {"peak_bytes", above ? json(*above) : json(nullptr)}});
    }
    json accept = json::array();
    if (work == train && peaks[0]["peak_bytes"].is_number()) {
        const double share = peaks[0]["peak_bytes"].get<double>() /
                             std::max(peaks[1]["peak_bytes"].get<double>(), 1.0);
        accept.push_back(
            verdict(fmt::format("at most 0.9x attention by the best kernel (found {:.2f}x)", share),
                    share <= 0.9, !settings.quick));
    }
    return {{"kind", "memory"}, {"contestants", peaks}, {"accept", accept}};
}

std::vector<RowPlan> rows(bool quick) {
    std::vector<RowPlan> plans;
    for (const char* mixer : {"aft-local", "aft-simple"})
        for (const auto& [words, work] :
             {std::pair<const char*, Work>{"training", train}, {"inference", infer}}) {
            const Config config = config_of(mixer, quick);
            plans.push_back(
                {fmt::format("{}, {} ({})", words, mixer, step_words(config)),
                 [mixer, quick, work](const BenchSettings& settings, const JobControl& control) {
                     return row_of(forms_of(mixer, quick), work, settings, control);
                 }});
        }
    return plans;
}

}  // namespace

WorkloadRoom memory_net_workload() {
    return {.info = {"memory_net",
                     "peak memory of a whole model, training and inference, beside attention"},
            .rows = rows};
}

}  // namespace aft::bench
