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

// At one picture gradients and averages of the weights weigh much; at four, activations decide.
constexpr int64_t kBatches[] = {1, 4};

Config config_of(const std::string& mixer, int64_t batch, bool quick) {
    Config config = pixel_config(mixer, quick);
    config.model.layers = 4;
    config.train.batch = batch;
    config.train.steps = 1000;
    config.train.validate_every = 0;
    config.check();
    return config;
}

// Kept scores grow with the batch to more than most machines have: for one picture alone.
std::vector<NetForm> forms_of(const std::string& mixer, int64_t batch, bool quick) {
    const Config softmax = config_of("softmax", batch, quick);
    std::vector<NetForm> forms{{"afterimage", "ours", config_of(mixer, batch, quick)},
                               {"softmax attention, best kernel", "attention", softmax}};
    if (batch > 1) return forms;
    add_kept_softmax();
    forms.push_back({"softmax attention, scores kept", "attention", softmax});
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
    const at::Tensor tokens = at::zeros({config.train.batch, config.model.tokens()}, at::kLong);
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
             {std::pair<const char*, Work>{"training", train}, {"inference", infer}})
            for (const int64_t batch : kBatches)
                plans.push_back({fmt::format("{}, {} ({})", words, mixer,
                                             step_words(config_of(mixer, batch, quick))),
                                 [=](const BenchSettings& settings, const JobControl& control) {
                                     return row_of(forms_of(mixer, batch, quick), work, settings,
                                                   control);
                                 }});
    return plans;
}

}  // namespace

WorkloadRoom memory_net_workload() {
    return {.info = {"memory_net",
                     "peak memory of a whole model, training and inference, beside attention"},
            .rows = rows};
}

}  // namespace aft::bench
