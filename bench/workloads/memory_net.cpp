// Peak memory of a whole model: weights, gradients, optimizer and activations of training steps, or
// weights and activations of a forward pass, each from nothing. Beside softmax attention by the
// best kernel, and as it was usual when AFT was published, with its scores kept (Zhai et al. 2021,
// section 5.1).
#include <c10/core/GradMode.h>

#include <algorithm>
#include <memory>

#include "bench/timing/peak.h"
#include "bench/timing/rounds.h"
#include "bench/workloads/kept_softmax.h"
#include "bench/workloads/paper_configs.h"
#include "bench/workloads/training.h"
#include "model/train/trainer.h"

namespace aft::bench {
namespace {

using nlohmann::json;

struct NetForm {
    std::string name, group;
    Config config;
};

// One model beside softmax attention of the same size.
struct MemoryCase {
    std::string name;
    // Of memory over attention that keeps its scores (Tables 2, 4); 0: none.
    double paper_ratio = 0;
    Config ours, softmax;
    // Kept scores of many examples are more than most machines have.
    bool keeps_scores = false;
};

Config fitted(Config config, int64_t batch) {
    config.model.layers = 4;
    config.train.batch = batch;
    config.train.steps = 1000;
    config.train.validate_every = 0;
    config.check();
    return config;
}

// At one picture gradients and averages of the weights weigh much; at four, activations decide.
MemoryCase pixel_case(const std::string& mixer, double paper, int64_t batch, bool quick) {
    return {.name = mixer,
            .paper_ratio = paper,
            .ours = fitted(pixel_config(mixer, quick), batch),
            .softmax = fitted(pixel_config("softmax", quick), batch),
            .keeps_scores = batch == 1};
}

MemoryCase byte_case(const std::string& mixer, double paper, const std::string& source,
                     bool quick) {
    return {.name = mixer,
            .paper_ratio = paper,
            .ours = fitted(byte_config(mixer, source, quick), 4),
            .softmax = fitted(byte_config("softmax", source, quick), 4),
            .keeps_scores = true};
}

MemoryCase image_case(const std::string& preset, bool quick) {
    return {.name = preset,
            .ours = fitted(image_config(preset, quick), 4),
            .softmax = fitted(image_config("deit-tiny", quick), 4),
            .keeps_scores = true};
}

std::vector<NetForm> forms_of(const MemoryCase& one) {
    std::vector<NetForm> forms{{"afterimage", "ours", one.ours},
                               {"softmax attention, best kernel", "attention", one.softmax}};
    if (!one.keeps_scores) return forms;
    add_kept_softmax();
    forms.push_back({"softmax attention, scores kept", "attention", one.softmax});
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
    const ModelConfig& model = config.model;
    const Net net(model, 1);
    const int64_t batch = config.train.batch;
    const bool has_tokens = task_traits(model).is_autoregressive;
    const at::Tensor input = has_tokens
                                 ? at::zeros({batch, model.tokens()}, at::kLong)
                                 : at::zeros({batch, model.channels, model.height, model.width});
    static_cast<void>(net.forward(input, {}));
}

using Work = void (*)(const Config&);

json share_verdict(const std::string& of, double most, double found, bool is_judged) {
    return verdict(fmt::format("at most {}x {} (found {:.2f}x)", most, of, found), found <= most,
                   is_judged);
}

json verdicts(const MemoryCase& one, const json& peaks, bool is_judged) {
    json accept = json::array();
    const auto share = [&](size_t over) {
        return peaks[0]["peak_bytes"].get<double>() /
               std::max(peaks[over]["peak_bytes"].get<double>(), 1.0);
    };
    for (const json& peak : peaks)
        if (!peak["peak_bytes"].is_number()) return accept;
    accept.push_back(share_verdict("attention by the best kernel", 0.9, share(1), is_judged));
    if (peaks.size() > 2 && one.paper_ratio > 0)
        accept.push_back(share_verdict("attention with its scores kept, the paper's own ratio",
                                       one.paper_ratio, share(2), is_judged));
    return accept;
}

json row_of(const MemoryCase& one, Work work, const BenchSettings& settings,
            const JobControl& control) {
    json peaks = json::array();
    const std::vector<NetForm> forms = forms_of(one);
    work(forms[1].config);  // brings what libraries keep for good
    for (const NetForm& form : forms) {
        if (control.stop.stop_requested()) throw Interrupted();
        const std::optional<int64_t> above = peak_above([&] { work(form.config); });
        peaks.push_back({{"name", form.name},
                         {"group", form.group},
                         {"ours", form.group == "ours"},
                         {"peak_bytes", above ? json(*above) : json(nullptr)}});
    }
    return {{"kind", "memory"},
            {"contestants", peaks},
            {"accept", work == train ? verdicts(one, peaks, !settings.quick) : json::array()}};
}

std::vector<MemoryCase> cases(const std::string& source, bool quick) {
    std::vector<MemoryCase> all;
    for (const int64_t batch : {1, 4}) {
        all.push_back(pixel_case("aft-local", 0.42, batch, quick));
        all.push_back(pixel_case("aft-simple", 0.31, batch, quick));
    }
    all.push_back(byte_case("aft-local", 0.40, source, quick));
    all.push_back(byte_case("aft-simple", 0.34, source, quick));
    for (const char* const preset : {"imagenet-full-tiny", "imagenet-conv-tiny-32-11"})
        all.push_back(image_case(preset, quick));
    return all;
}

std::vector<RowPlan> rows(bool quick) {
    const auto file = std::make_shared<const ByteFile>();  // as long as a row may run
    std::vector<RowPlan> plans;
    for (const MemoryCase& one : cases(file->source(), quick))
        for (const auto& [words, work] :
             {std::pair<const char*, Work>{"training", train}, {"inference", infer}})
            plans.push_back({fmt::format("{}, {} ({})", words, one.name, step_words(one.ours)),
                             [one, work = work, file](const BenchSettings& settings,
                                                      const JobControl& control) {
                                 static_cast<void>(file);  // stays while a row can run
                                 return row_of(one, work, settings, control);
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
