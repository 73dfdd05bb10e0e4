#include "model/session/weight_store.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <utility>

#include "core/nearest_step.h"
#include "model/checkpoints/run_paths.h"
#include "model/device.h"
#include "model/interventions/intervention.h"
#include "model/probe/probe.h"
#include "model/train/history.h"
#include "model/train/run_folder.h"

namespace aft::session {

namespace {

constexpr size_t kPastKept = 4, kChangedKept = 2;

// The nearest of both kinds; of two that are as near the earlier one.
int64_t nearer_of(int64_t whole, int64_t frame, int64_t step) {
    if (whole < 0 || frame < 0) return std::max(whole, frame);
    if (std::abs(whole - step) == std::abs(frame - step)) return std::min(whole, frame);
    return std::abs(whole - step) < std::abs(frame - step) ? whole : frame;
}

[[noreturn]] void fail_without_moment(const std::filesystem::path& run, bool biases_only) {
    std::error_code ignored;
    if (!run.empty() && !std::filesystem::exists(run, ignored))
        fail(
            "{}: the folder of this run is gone: it was deleted or moved; put it back to see its "
            "stored steps",
            run.string());
    fail("no step of this run is stored{}",
         biases_only ? "" : " whole: this needs a checkpoint, none is kept");
}

[[noreturn]] void fail_without_weights() {
    fail(
        "no checkpoint is left of this run: its stored biases can be seen, this needs whole "
        "weights");
}

bool needs_biases_only(const std::string& probe) {
    return find_room(probes(), probe, "probe").needs == ProbeNeeds::biases;
}

}  // namespace

// Copies values into a net of the same shape; makes a new one where names or shapes differ, or what
// maps alone say of their layers.
void WeightStore::fill(Copy& copy, const Checkpoint& checkpoint) {
    bool fits = copy.net && copy.net->parameters().size() == checkpoint.weights.size() &&
                copy.net->config().maps == checkpoint.config.model.maps;
    for (size_t i = 0; fits && i < checkpoint.weights.size(); ++i) {
        const Parameter& parameter = copy.net->parameters()[i];
        fits = parameter.name == checkpoint.weights[i].first &&
               parameter.value.sizes() == checkpoint.weights[i].second.sizes();
    }
    if (!fits) {
        copy.net = std::make_unique<Net>(make_net(checkpoint, parse_device(device_)));
        for (Parameter& parameter : copy.net->parameters())
            parameter.value.set_requires_grad(false);
    }
    for (size_t i = 0; fits && i < checkpoint.weights.size(); ++i)
        copy.net->parameters()[i].value.copy_(checkpoint.weights[i].second);
    copy.kept.clear();
    copy.version = ++fills_;
}

void WeightStore::renew(Copy& copy, const SnapshotPtr& snapshot) {
    if (copy.net && copy.stamp == snapshot->stamp) return;
    copy.stamp = 0;
    copy.step = -1;
    fill(copy, *snapshot->checkpoint);
    copy.stamp = snapshot->stamp;
    copy.step = snapshot->step;
}

WeightStore::Copy& WeightStore::past(int64_t step, bool biases_only, const SnapshotPtr& snapshot) {
    const auto stored = channels_.stored_steps.latest();
    if (std::exchange(past_since_, stored->valid_since) != stored->valid_since) past_.clear();
    const std::filesystem::path run = stored->run;
    const std::vector<int64_t> saved = run.empty() ? std::vector<int64_t>{} : checkpoint_steps(run);
    const std::vector<int64_t> frames =
        run.empty() ? std::vector<int64_t>{} : history_steps(history_folder(run));
    const int64_t whole = nearest_step(saved, step);
    const int64_t frame = biases_only ? nearest_step(frames, step) : -1;
    const int64_t wanted = nearer_of(whole, frame, step);
    if (wanted < 0) fail_without_moment(run, biases_only);
    const bool partial = wanted != whole;
    const auto kept = std::find_if(past_.begin(), past_.end(), [&](const Copy& copy) {
        return copy.step == wanted && copy.biases_only == partial;
    });
    if (kept != past_.end()) {
        past_.splice(past_.begin(), past_, kept);
        return past_.front();
    }
    Copy copy;
    if (past_.size() >= kPastKept) {
        copy = std::move(past_.back());
        past_.pop_back();
    }
    copy.step = -1;
    fill(copy, partial ? *snapshot->checkpoint : read_checkpoint(checkpoint_path(run, wanted)));
    if (partial) {
        for (const auto& [name, value] : read_history(history_folder(run), wanted))
            for (Parameter& parameter : copy.net->parameters())
                if (parameter.name == name && parameter.value.sizes() == value.sizes())
                    parameter.value.copy_(value);
    }
    copy.step = wanted;
    copy.biases_only = partial;
    past_.push_front(std::move(copy));
    return past_.front();
}

WeightStore::Copy& WeightStore::untouched(int64_t step, const std::string& probe,
                                          const SnapshotPtr& snapshot) {
    const bool biases_only = needs_biases_only(probe);
    if (step >= 0 && step != snapshot->step) return past(step, biases_only, snapshot);
    if (snapshot->biases_only && !biases_only) fail_without_weights();
    renew(live_, snapshot);
    return live_;
}

// Nothing is kept of what a failed recipe has half changed.
void WeightStore::change(ChangedCopy& changed, const Copy& from, const Recipe& recipe) {
    changed.of_version = 0;
    changed.copy.net =
        std::make_unique<Net>(from.net->config(), std::nullopt, parse_device(device_));
    for (Parameter& parameter : changed.copy.net->parameters())
        parameter.value.set_requires_grad(false);
    copy_values(from.net->parameters(), changed.copy.net->parameters());
    apply_recipe(*changed.copy.net, recipe);
    changed.copy.kept.clear();
    changed.copy.version = ++fills_;
    changed.copy.step = from.step;
    changed.recipe = recipe;
    changed.of_version = from.version;
}

Weights WeightStore::at(const ProbeRequest& request, const SnapshotPtr& snapshot) {
    Copy& copy = untouched(request.step, request.probe, snapshot);
    if (request.recipe.is_untouched()) return weights_of(copy);
    const auto kept = std::find_if(changed_.begin(), changed_.end(), [&](const auto& one) {
        return one.of_version == copy.version && one.recipe == request.recipe;
    });
    if (kept != changed_.end()) {
        changed_.splice(changed_.begin(), changed_, kept);
        return weights_of(changed_.front().copy);
    }
    if (changed_.size() >= kChangedKept) changed_.pop_back();
    changed_.emplace_front();
    change(changed_.front(), copy, request.recipe);
    return weights_of(changed_.front().copy);
}

Weights WeightStore::own_at(const CompletionRequest& request, const SnapshotPtr& snapshot) {
    Copy& copy = untouched_own(request.step, snapshot);
    if (request.recipe.is_untouched()) return weights_of(copy);
    if (changed_own_.of_version != copy.version || changed_own_.recipe != request.recipe)
        change(changed_own_, copy, request.recipe);
    return weights_of(changed_own_.copy);
}

WeightStore::Copy& WeightStore::untouched_own(int64_t step, const SnapshotPtr& snapshot) {
    if (step < 0 || step == snapshot->step) {
        if (snapshot->biases_only) fail_without_weights();
        renew(completing_, snapshot);
        return completing_;
    }
    const auto stored = channels_.stored_steps.latest();
    const std::filesystem::path run = stored->run;
    const int64_t wanted = run.empty() ? -1 : nearest_step(checkpoint_steps(run), step);
    if (wanted < 0) fail_without_moment(run, /*biases_only=*/false);
    const bool there = completing_.net && completing_.stamp == 0 && completing_.step == wanted &&
                       completing_since_ == stored->valid_since;
    if (!there) {
        completing_.stamp = 0;
        completing_.step = -1;
        fill(completing_, read_checkpoint(checkpoint_path(run, wanted)));
        completing_.step = wanted;
        completing_since_ = stored->valid_since;
    }
    return completing_;
}

}  // namespace aft::session
