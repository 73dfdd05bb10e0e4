#include "model/jobs/stored_biases.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <list>

#include "core/caught.h"
#include "core/system/omp_team.h"
#include "model/checkpoints/checkpoint.h"
#include "model/checkpoints/naming.h"
#include "model/checkpoints/run_paths.h"
#include "model/decode/input.h"
#include "model/device.h"
#include "model/interventions/intervention.h"
#include "model/jobs/summary.h"
#include "model/probe/probe.h"
#include "model/train/history.h"
#include "model/train/run_folder.h"
#include "model/train/run_lock.h"

namespace aft {

namespace stored {

// Files of one stored moment; of a run a history frame holds the biases alone.
struct StoredMoment {
    std::filesystem::path file;
    int64_t step = -1;
    bool is_frame = false;
};

}  // namespace stored

namespace {

using stored::StoredMoment;

std::vector<int64_t> stored_steps(const std::filesystem::path& run) {
    std::vector<int64_t> steps = history_steps(history_folder(run));
    const std::vector<int64_t> saved = checkpoint_steps(run);
    steps.insert(steps.end(), saved.begin(), saved.end());
    std::sort(steps.begin(), steps.end());
    steps.erase(std::unique(steps.begin(), steps.end()), steps.end());
    return steps;
}

void fill_status(const Config& config, Status& status) {
    status.describe(config);
    status.state = RunState::ready;
    status.layers.resize(static_cast<size_t>(std::max<int64_t>(0, config.model.layers)));
}

void describe_file(const std::string& path, StoredModel& model) {
    const Checkpoint header = read_checkpoint_header(path);
    fill_status(header.config, model.status);
    model.status.alphabet = alphabet_of(header);
    model.status.step = header.step;
    model.steps = model.saved = {header.step};
    const auto metrics = metric_values(header);
    const auto read = [&](const std::string& key, double& to) {
        if (const auto found = metrics.find(key); found != metrics.end()) to = found->second;
    };
    read("loss", model.status.loss);
    read(model.status.task.metric, model.status.metric);
}

// config.json of a run of maps alone does not say how many heads and taps they have; their files
// do.
Config config_of_run(const std::filesystem::path& run) {
    Config config = load_run_config(config_path(run).string());
    if (!task_traits(config.model).is_bias_alone) return config;
    const std::vector<int64_t> saved = checkpoint_steps(run);
    return saved.empty() ? config
                         : read_checkpoint_header(checkpoint_path(run, saved.back())).config;
}

void describe_run(const std::string& path, StoredModel& model) {
    const std::filesystem::path run(path);
    fill_status(config_of_run(run), model.status);
    model.is_growing = is_run_locked(run);
    model.saved = checkpoint_steps(run);
    model.steps = stored_steps(run);
    while (read_rows(run, model.log_bytes, model.curves)) {
    }
    model.status.loss = last_value(model.curves, "loss");
    model.status.metric = last_value(model.curves, model.status.task.metric);
    AFT_CHECK(!model.steps.empty(), "{}: no step is stored in this run yet{}", path,
              model.is_growing ? "; it is being trained, look again later" : "");
    model.status.step = model.steps.back();
}

// Appends what has been logged since. False: the log is another one than before.
bool append_logged(const std::filesystem::path& run, StoredModel& model) {
    const size_t rows = model.curves.step.size();
    const std::string broken = error_words([&] {
        while (read_rows(run, model.log_bytes, model.curves)) {
        }
    });
    const NumberColumn& step = model.curves.step;
    return broken.empty() && (rows == 0 || step.size() == rows || step[rows] > step[rows - 1]);
}

StoredMoment find_moment(const std::string& path, int64_t step) {
    if (!is_run_folder(path)) return {.file = path, .step = step, .is_frame = false};
    const std::vector<int64_t> steps = stored_steps(path);
    AFT_CHECK(!steps.empty(), "{}: no step is stored in this run", path);
    if (step < 0) step = steps.back();
    AFT_CHECK(std::binary_search(steps.begin(), steps.end(), step),
              "{}: step {} is not stored there; stored: {} steps from {} to {}", path, step,
              steps.size(), steps.front(), steps.back());
    const std::vector<int64_t> saved = checkpoint_steps(path);
    if (std::binary_search(saved.begin(), saved.end(), step))
        return {.file = checkpoint_path(path, step), .step = step, .is_frame = false};
    const std::filesystem::path folder = history_folder(path);
    return {.file = history_path(folder, step), .step = step, .is_frame = true};
}

// The net of a moment; of a frame all but the biases is empty, which the probes of biases
// do not read.
Net net_of(const std::string& path, StoredMoment& moment) {
    if (!moment.is_frame) {
        const Checkpoint checkpoint = read_checkpoint(moment.file);
        moment.step = checkpoint.step;
        return make_net(checkpoint);
    }
    const std::filesystem::path run(path);
    const Config config = config_of_run(run);
    Net net(config.model, std::nullopt);
    const NamedTensors frame = read_history(history_folder(run), moment.step);
    for (const auto& [name, value] : frame) {
        const auto found = std::find_if(net.parameters().begin(), net.parameters().end(),
                                        [&](const Parameter& p) { return p.name == name; });
        AFT_CHECK(found != net.parameters().end() && found->value.sizes() == value.sizes(),
                  "{}: '{}' does not fit the model of config.json", moment.file.string(), name);
        found->value.set_requires_grad(false);
        found->value.copy_(value);
    }
    return net;
}

// What changes other weights is off: a frame of the history has none.
Recipe of_biases(const Recipe& recipe) {
    Recipe out = recipe;
    for (Intervention& one : out.interventions)
        for (const InterventionRoom& room : interventions())
            if (room.info.name == one.name && !room.edits_bias) one.on = false;
    return out;
}

}  // namespace

StoredModel stored_model(const std::string& path) {
    StoredModel model;
    AFT_CHECK(std::filesystem::exists(path), "{}: no longer there", path);
    if (is_run_folder(path))
        describe_run(path, model);
    else
        describe_file(path, model);
    model.status.path = path;
    model.status.name = shown_name(path);
    return model;
}

bool follow_log(StoredModel& model) {
    const std::string path = model.status.path;
    if (!is_run_folder(path)) {
        model = stored_model(path);
        return true;
    }
    std::error_code error;
    const uint64_t bytes = std::filesystem::file_size(metrics_path(path), error);
    if (!error && bytes == model.log_bytes) return false;
    const size_t rows = model.curves.step.size();
    if (error || bytes < model.log_bytes || !append_logged(path, model)) {
        model = stored_model(path);
        return true;
    }
    return model.curves.step.size() != rows;
}

struct StoredBiases::Impl {
    struct KeptNet {
        stored::StoredMoment moment;
        std::filesystem::file_time_type written;
        Recipe recipe;  // that its biases were changed by
        Net net;
        Activations activations;
    };
    std::list<KeptNet> nets;  // newest use first

    KeptNet& net(const std::string& path, const ProbeRequest& request) {
        StoredMoment moment = find_moment(path, request.step);
        Recipe recipe = of_biases(request.recipe);
        if (recipe.is_untouched()) recipe = {};
        std::error_code gone;
        const auto written = std::filesystem::last_write_time(moment.file, gone);
        const auto found = std::find_if(nets.begin(), nets.end(), [&](const KeptNet& kept) {
            return kept.moment.file == moment.file && kept.written == written && !gone &&
                   kept.recipe == recipe;
        });
        if (found != nets.end()) {
            nets.splice(nets.begin(), nets, found);
            return nets.front();
        }
        if (nets.size() >= kMostKept) nets.pop_back();  // before the next one is read
        Net fresh = net_of(path, moment);
        apply_recipe(fresh, recipe);
        nets.push_front({std::move(moment), written, std::move(recipe), std::move(fresh), {}});
        return nets.front();
    }
};

StoredBiases::StoredBiases() : impl_(std::make_unique<Impl>()) {}
StoredBiases::~StoredBiases() = default;

size_t StoredBiases::kept() const {
    return impl_->nets.size();
}

FieldSet StoredBiases::ask(const std::string& path, const ProbeRequest& request,
                           const JobControl& control) {
    const at::NoGradGuard no_grad;
    const ProbeRoom& room = find_room(probes(), request.probe, "probe");
    AFT_CHECK(room.needs == ProbeNeeds::biases,
              "probe {} needs more than position biases, which alone are stored for every step",
              request.probe);
    FieldSet out;
    with_plain_errors([&] {
        Impl::KeptNet& kept = impl_->net(path, request);
        const ProbeContext context{kept.net, kept.moment.step, control, kept.activations};
        naming_model(kept.moment.file.string(), [&] { out = run_probe(context, request); });
    });
    release_omp_team();
    return out;
}

}  // namespace aft
