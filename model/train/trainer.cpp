#include "model/train/trainer.h"
#include "model/train/demand.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <array>
#include <chrono>
#include <fstream>
#include <optional>

#include "core/caught.h"
#include "core/check.h"
#include "core/clock.h"
#include "model/checkpoints/naming.h"
#include "model/data/source.h"
#include "model/nn/input_norm.h"
#include "model/system.h"
#include "model/train/trainer_impl.h"

namespace aft {
namespace {

using Clock = std::chrono::steady_clock;

nlohmann::json describe(const DataSource& source, const Config& config) {
    const ModelConfig& model = config.model;
    const DataInfo& info = source.info();
    nlohmann::json description{{"source", config.data.source}, {"levels", info.levels}};
    if (info.is_text) {
        description["alphabet"] = info.alphabet;
    } else {
        description["height"] = info.height;
        description["width"] = info.width;
        description["channels"] = info.channels;
        // Pixels of classification are levels/(L-1), then (x - mean) / std.
        description["normalisation"] = {{"mean", 0.5}, {"std", 0.5}};
        const InputNorm norm = input_norm(model);
        if (norm.mean[0] != 0.5F) {  // by channel
            const auto channels = static_cast<ptrdiff_t>(info.channels);
            const auto by_channel = [&](const std::array<float, 4>& values) {
                return std::vector<float>(values.begin(), values.begin() + channels);
            };
            description["normalisation"] = {{"mean", by_channel(norm.mean)},
                                            {"std", by_channel(norm.std)}};
        }
    }
    if (!info.class_names.empty()) description["classes"] = info.class_names;
    if (info.floor_bits) description["floor_bits"] = *info.floor_bits;
    return description;
}

std::shared_ptr<const DataSource> open_data(const Config& config, const std::stop_token& stop) {
    check_trainable(config.model);
    return open_source(parse_spec(config.data.source, stop),
                       static_cast<uint64_t>(config.train.seed), text_length(config.model));
}

constexpr const char* kSquarePrefix = "optim.exp_avg_sq.";

// An average of squares may have overflowed: such a parameter stays as it is.
void check_sound_average(const std::string& name, const at::Tensor& average) {
    const bool is_square = name.starts_with(kSquarePrefix);
    AFT_CHECK((is_square ? average.ge(0) : average.isfinite()).all().item<bool>(),
              "the checkpoint's '{}' holds NaN or {}: training cannot continue from it; an earlier "
              "save of the run may be sound",
              name, is_square ? "negative squares" : "infinity");
}

void load_optimizer(const Checkpoint& checkpoint, const Parameters& parameters, AdamW& optimizer) {
    OptimizerState& state = optimizer.state();
    if (checkpoint.optimizer.empty()) return;  // weights only: starts with fresh averages
    const c10::NoGradGuard no_grad;
    const auto find = [&](const std::string& name) -> const at::Tensor& {
        for (const auto& [known, tensor] : checkpoint.optimizer)
            if (known == name) return tensor;
        fail("the checkpoint's optimiser state lacks '{}'", name);
    };
    const auto load = [&](const std::string& name, size_t i, at::Tensor& to) {
        const at::Tensor &from = find(name), &value = parameters[i].value;
        AFT_CHECK(from.sizes() == value.sizes() && from.scalar_type() == to.scalar_type(),
                  "the checkpoint's '{}' is {} [{}], the net needs {} [{}]", name,
                  c10::toString(from.scalar_type()), fmt::join(from.sizes(), ", "),
                  c10::toString(to.scalar_type()), fmt::join(value.sizes(), ", "));
        check_sound_average(name, from);
        const Shard& shard = optimizer.shards()[i];
        to.copy_(to.sizes() == from.sizes()
                     ? from
                     : from.reshape({-1}).narrow(0, shard.first, shard.count));
    };
    for (size_t i = 0; i < parameters.size(); ++i) {
        load("optim.exp_avg." + parameters[i].name, i, state.exp_avg[i]);
        load(kSquarePrefix + parameters[i].name, i, state.exp_avg_sq[i]);
    }
    const at::Tensor& steps = find("optim.steps");
    AFT_CHECK(steps.numel() == 1 && steps.scalar_type() == at::kLong && steps.item<int64_t>() >= 0,
              "the checkpoint's 'optim.steps' must be one whole number");
    state.steps = steps.item<int64_t>();
}

}  // namespace

Trainer::Trainer(const Config& config, at::Device device, RankGroup* ranks,
                 const std::stop_token& stop) {
    Config fitted = config;
    reset_unread(fitted);
    auto source = open_data(fitted, stop);
    fit_model(fitted.model, *source);
    fitted.check();
    check_fit(*source, fitted.model);
    check_demand(fitted, device);
    check_ranks(fitted.train, ranks == nullptr ? 1 : ranks->size());
    Net net(fitted.model, static_cast<uint64_t>(fitted.train.seed), device);
    nlohmann::json description = describe(*source, fitted);
    impl_ = std::make_unique<Impl>(fitted, OpenedData{std::move(source), std::move(description)},
                                   std::move(net), ranks);
    start_ranks(nullptr);
}

Trainer::Trainer(const Checkpoint& checkpoint, at::Device device, RankGroup* ranks,
                 const std::stop_token& stop) {
    Config config = checkpoint.config;
    with_error([&] { config.check(); },
               [&](const Error& error) { return naming_error(checkpoint.path, error); });
    auto source = open_data(config, stop);
    check_fit(*source, config.model);
    check_demand(config, device);
    check_ranks(config.train, ranks == nullptr ? 1 : ranks->size());
    nlohmann::json description = describe(*source, config);
    impl_ = std::make_unique<Impl>(config, OpenedData{std::move(source), std::move(description)},
                                   make_net(checkpoint, device), ranks);
    naming_model(checkpoint.path, [&] {
        load_optimizer(checkpoint, impl_->net.parameters(), impl_->optimizer);
        if (impl_->ema) impl_->ema->load(checkpoint.optimizer);
    });
    impl_->steps_done = checkpoint.step;
    impl_->last_metrics = checkpoint.metrics;
    start_ranks(&checkpoint);
}

// The leader's: the others build theirs from what it sends.
void Trainer::start_ranks(const Checkpoint* checkpoint) {
    if (!impl_->ranks || impl_->ranks->group().rank() != 0) return;
    RankGroup& group = impl_->ranks->group();
    const auto turn = group.lead();
    static int64_t trainers = 0;  // guarded by the turn
    const int64_t id = trainers++;
    impl_->ranks->set_id(id);
    send_start(group, id, impl_->config, checkpoint);
    check_started(group, "");
}

Trainer::~Trainer() {
    if (!impl_ || !impl_->ranks || impl_->ranks->group().is_broken()) return;
    const auto turn = impl_->ranks->group().lead();
    static_cast<void>(error_words([&] { impl_->ranks->order("end"); }));
}

StepReport Trainer::step() {
    if (!impl_->ranks) return impl_->step();
    const auto turn = impl_->ranks->group().lead();
    impl_->ranks->order("step");
    // The others wait for this one.
    StepReport report;
    const std::string problem = error_words([&] { report = impl_->step(); }, plain_words);
    if (problem.empty()) return report;
    impl_->ranks->group().leave(problem);
    fail("{}", problem);
}

StepReport Trainer::Impl::step() {
    const auto start = Clock::now();
    StepReport report;
    report.step = steps_done;
    const Batch batch = data.loader->next(steps_done);
    report.timing["data_ms"] = ms_since(start);

    {  // or the next step would count twice what this one has of the gradients
        const OnFailure drop_gradients([&] { optimizer.zero_grad(); });
        StepTotals totals;
        report.values["loss"] = run_micro_batches(batch, totals, report);
        if (report.failure.empty()) {
            totals.write("", report.values);
            add_penalty(report);
            if (apply(report)) add_bias_norms(report);
        }
    }
    optimizer.zero_grad();
    if (!report.failure.empty()) {
        report.failure = fmt::format("step {}, seed {}: {}; the step was not applied",
                                     steps_done + 1, config.train.seed, report.failure);
        return report;
    }
    report.step = ++steps_done;
    const double step_ms = ms_since(start);
    const TrainConfig& train = config.train;
    // The weights have moved: with an error here the caller needs the rest of the report.
    if (train.validate_every > 0 && steps_done % train.validate_every == 0)
        report.error = caught([&] { report.values.merge(validate()); });
    last_metrics = report.values;
    report.stops = ranks && ranks->stops();
    report.timing["step_ms"] = step_ms;
    report.timing["examples_per_s"] = 1000.0 * static_cast<double>(train.batch) / step_ms;
    report.timing["memory_bytes"] = static_cast<double>(memory_bytes());
    return report;
}

std::map<std::string, double> Trainer::validate() {
    if (!impl_->ranks) return impl_->validate();
    const auto turn = impl_->ranks->group().lead();
    impl_->ranks->order("validate");
    return impl_->validate();
}

std::map<std::string, double> Trainer::Impl::validate() {
    const c10::NoGradGuard no_grad;
    if (!data.validation) load_validation();
    std::optional<WeightAverage::InUse> averaged;
    if (ema) averaged.emplace(*ema);
    StepTotals totals;
    for (const auto& [place, batch] : *data.validation) {
        const TaskResult result = task->evaluate(net, batch, pass(false, 0), {});
        totals.add(place, result.loss.item<double>(), result);
    }
    std::string none;
    if (ranks) ranks->merge(totals, none);
    std::map<std::string, double> values;
    if (!totals.empty()) totals.write("validation.", values);
    return values;
}

OptimizerState Trainer::whole_state() const {
    const Impl& p = *impl_;
    if (!p.ranks || !p.ranks->has_shards()) return p.optimizer.state();
    const auto turn = p.ranks->group().lead();
    p.ranks->order("gather");
    return p.ranks->gather(p.optimizer, p.net.parameters());
}

Checkpoint Trainer::checkpoint(bool with_optimizer) const {
    const Impl& p = *impl_;
    Checkpoint result;
    result.config = p.config;
    result.step = p.steps_done;
    result.metrics = p.last_metrics;
    result.data = p.data.description;
    const auto copy = [](const at::Tensor& tensor) {
        return tensor.is_cpu() ? tensor.detach().clone() : tensor.detach().cpu();
    };
    const Parameters& parameters = p.net.parameters();
    for (const Parameter& parameter : parameters)
        result.weights.emplace_back(parameter.name, copy(parameter.value));
    if (!with_optimizer) return result;
    const OptimizerState state = whole_state();
    for (size_t i = 0; i < parameters.size(); ++i) {
        result.optimizer.emplace_back("optim.exp_avg." + parameters[i].name,
                                      copy(state.exp_avg[i]));
        result.optimizer.emplace_back("optim.exp_avg_sq." + parameters[i].name,
                                      copy(state.exp_avg_sq[i]));
    }
    result.optimizer.emplace_back("optim.steps", at::scalar_tensor(state.steps, at::kLong));
    if (p.ema)
        for (size_t i = 0; i < parameters.size(); ++i)
            result.optimizer.emplace_back(kAveragePrefix + parameters[i].name,
                                          copy(p.ema->values()[i]));
    // Data order and dropout are functions of (seed, step): their place is these two numbers.
    result.training = {{"optimizer", "optim."},
                       {"random", {{"seed", p.config.train.seed}, {"step", p.steps_done}}}};
    return result;
}

void Trainer::Impl::start_loader() {
    const RankGroup* group = ranks ? &ranks->group() : nullptr;
    data.part = batch_part(config.train, group == nullptr ? 0 : group->rank(),
                           group == nullptr ? 1 : group->size());
    const LoaderOptions options{config.model,       config.data,
                                config.train.batch, static_cast<uint64_t>(config.train.seed),
                                data.part.first,    data.part.count};
    data.loader = std::make_unique<Loader>(data.source, options);
}

void Trainer::set(const std::string& key, const std::string& value) {
    Config changed = impl_->config;
    SettingRows rows = changed.rows();
    const Setting* row = find_setting(rows, key);
    if (row && !row->live) {
        std::string live;
        for (const Setting& known : rows)
            if (known.live) live += (live.empty() ? "" : ", ") + known.key;
        fail_usage("'{}' cannot change while training runs; allowed: {}", key, live);
    }
    set_from_text(rows, key, value);
    changed.check();
    check_ranks(changed.train, impl_->ranks ? impl_->ranks->group().size() : 1);
    std::vector<bool> frozen = impl_->frozen_of(changed.train);
    const TrainConfig& before = impl_->config.train;
    const bool has_other_batches =
        changed.train.batch != before.batch || changed.train.micro_batch != before.micro_batch;
    if (has_other_batches) check_demand(changed, impl_->device);
    impl_->config = changed;
    if (has_other_batches) impl_->start_loader();
    impl_->optimizer.freeze(std::move(frozen));
    if (!impl_->ranks) return;
    const auto turn = impl_->ranks->group().lead();
    impl_->ranks->order("set", {{"key", key}, {"value", value}});
}

int64_t Trainer::steps_done() const {
    return impl_->steps_done;
}
const Config& Trainer::config() const {
    return impl_->config;
}
const Net& Trainer::net() const {
    return impl_->net;
}
std::shared_ptr<const DataSource> Trainer::source() const {
    return impl_->data.source;
}

namespace {

int64_t status_bytes(const std::string& key) {
    std::ifstream in("/proc/self/status");
    constexpr int64_t kKilo = 1024;
    for (std::string line; std::getline(in, line);)
        if (line.starts_with(key)) return std::atoll(line.c_str() + key.size()) * kKilo;
    return 0;
}

}  // namespace

int64_t peak_memory_bytes() {
    return status_bytes("VmHWM:");
}
int64_t memory_bytes() {
    return status_bytes("VmRSS:");
}

}  // namespace aft
