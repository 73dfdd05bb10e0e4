#include "bench/decoding.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <thread>

#include "bench/calibrate.h"
#include "bench/statistics.h"

namespace aft::bench {
namespace {

using nlohmann::json;
using std::chrono::steady_clock;

constexpr int64_t kChecked = 80;   // tokens compared with float64: more than two blocks
constexpr int64_t kRound = 32;     // tokens of a round: one whole block of targets
constexpr int64_t kFewTokens = 8;  // of LibTorch's, which has no blocks, and of wide batches

struct Runner {
    DecodeForm form;
    std::unique_ptr<decode::Decoder> decoder;
    std::unique_ptr<decode::DecoderState> start, state;
    double error = 0;
    std::vector<double> times = {};  // seconds a step
};

std::vector<int64_t> some_tokens(const ModelConfig& model, int64_t count) {
    std::vector<int64_t> fed{-1};
    for (int64_t i = 1; i < count; ++i) fed.push_back((i * 7919 + i * i) % model.levels);
    return fed;
}

at::Tensor exact_logits(const Net& net, const std::vector<int64_t>& fed) {
    const c10::NoGradGuard off;
    Net wide(net.config(), 1);
    copy_values(net.parameters(), wide.parameters());
    for (Parameter& p : wide.parameters()) p.value.set_data(p.value.detach().to(at::kDouble));
    return wide.forward_fed(at::tensor(fed, at::kLong).unsqueeze(0),
                            {.backend = ops::Backend::reference})[0];
}

double error_of_logits(decode::Decoder& decoder, const Net& net) {
    const auto fed = some_tokens(net.config(), std::min(kChecked, net.config().tokens()));
    const at::Tensor wanted = exact_logits(net, fed);
    const auto state = decoder.start(1);
    double error = 0;
    for (size_t t = 0; t < fed.size(); ++t) {
        const std::span<const float> logits = decoder.step({&fed[t], 1}, *state);
        const at::Tensor row = at::tensor(std::vector<float>(logits.begin(), logits.end()));
        const double away =
            (row.to(at::kDouble) - wanted[static_cast<int64_t>(t)]).abs().max().item<double>();
        if (std::isnan(away)) return away;
        error = std::max(error, away);
    }
    return error / wanted.abs().max().item<double>();
}

decode::WeightFormat format_of(const std::string& precision) {
    return decode::parse_weight_format(precision);
}

Runner prepared(const DecodeForm& form) {
    const auto threads = static_cast<int64_t>(std::thread::hardware_concurrency());
    Runner runner{form,
                  decode::make_decoder(*form.net, {.weights = format_of(form.precision),
                                                   .threads = threads,
                                                   .eager = form.eager}),
                  nullptr, nullptr};
    runner.error = error_of_logits(*runner.decoder, *form.net);
    const auto known = some_tokens(form.net->config(), std::max<int64_t>(form.position, 1));
    runner.start = runner.decoder->start(1);
    if (form.position > 0) runner.decoder->feed(known, *runner.start, nullptr);
    runner.start->select(std::vector<int64_t>(static_cast<size_t>(form.rows), 0));
    runner.state = runner.start->clone();
    return runner;
}

// Seconds a step; goes back to the start where the sequence ends.
double time_round(Runner& runner) {
    const DecodeForm& form = runner.form;
    const int64_t steps = form.eager || form.rows > 4 ? kFewTokens : kRound;
    if (runner.state->position + steps > form.net->config().tokens())
        runner.state = runner.start->clone();
    const std::vector<int64_t> tokens(static_cast<size_t>(form.rows), 1);
    const auto begin = steady_clock::now();
    for (int64_t i = 0; i < steps; ++i)
        static_cast<void>(runner.decoder->step(tokens, *runner.state));
    const std::chrono::duration<double> time = steady_clock::now() - begin;
    return time.count() / static_cast<double>(steps);
}

json runner_json(const Runner& runner, const Runner& first) {
    const Summary time = summarize(runner.times);
    const Ratio over = ratio(runner.times, first.times);
    return {{"name", runner.form.name},
            {"precision", runner.form.precision},
            {"ours", !runner.form.eager},
            {"way", runner.decoder->name()},
            {"error", number(runner.error)},
            {"rows", runner.form.rows},
            {"position", runner.form.position},
            {"least_us", time.least * 1e6},
            {"median_us", time.median * 1e6},
            {"tokens_per_second", static_cast<double>(runner.form.rows) / time.median},
            {"over_first", over.of_medians},
            {"low", over.low},
            {"high", over.high}};
}

json claims_json(const DecodeCase& one, const json& contestants, bool quiet) {
    json all = json::array();
    for (const DecodeCase::Claim& claim : one.claims) {
        const json &of = contestants[claim.of], &over = contestants[claim.over];
        const double found =
            claim.scale * of["median_us"].get<double>() / over["median_us"].get<double>();
        const bool met = claim.at_least ? found >= claim.bound : found <= claim.bound;
        all.push_back(
            {{"words",
              fmt::format("{} over {}: {} {}{} (found {:.2f})", of["name"].get<std::string>(),
                          over["name"].get<std::string>(), claim.at_least ? "at least" : "at most",
                          claim.bound, claim.scale == 1 ? "x" : "x in tokens a second", found)},
             {"state", !quiet ? "not judged"
                       : met  ? "met"
                              : "missed"}});
    }
    return all;
}

}  // namespace

ModelConfig decode_model(const std::string& mixer, bool quick) {
    ModelConfig model;
    model.task = "image";
    model.mixer = mixer;
    model.layers = quick ? 2 : 24;
    model.dim = quick ? 32 : 256;
    model.heads = mixer == "softmax" ? 4 : 1;
    model.window = mixer == "aft-local" ? (quick ? 8 : 256) : 0;
    model.factors = quick ? 4 : 64;
    model.height = model.width = quick ? 8 : 32;
    model.channels = 3;
    model.levels = quick ? 16 : 256;
    model.init = "fan-in";
    return model;
}

json decode_race(const DecodeCase& one, const Settings& settings, const JobControl& control) {
    const c10::NoGradGuard off;
    std::vector<Runner> runners;
    for (const DecodeForm& form : one.forms) {
        if (control.stop.stop_requested()) throw Interrupted();
        runners.push_back(prepared(form));
    }
    for (Runner& runner : runners)  // warm-up
        for (int i = 0; i < 2; ++i) static_cast<void>(time_round(runner));
    const Rates before = calibrate(settings.quick);
    const Neighbours neighbours;
    for (int64_t round = 0; round < settings.rounds; ++round)
        for (Runner& runner : runners) {
            if (control.stop.stop_requested()) throw Interrupted();
            runner.times.push_back(time_round(runner));
        }
    const double others = neighbours.share();
    const Rates after = calibrate(settings.quick);
    json contestants = json::array();
    for (const Runner& runner : runners) contestants.push_back(runner_json(runner, runners[0]));
    const double moved = drift(before.copy, after.copy);
    const bool quiet = moved <= kAllowedDrift && others <= kContended && !settings.quick;
    return {{"kind", "decode"},
            {"case", one.name},
            {"contestants", contestants},
            {"copy_gbs", before.copy * 1e-9},
            {"drift", number(moved)},
            {"others", others},
            {"contended", others > kContended},
            {"accept", claims_json(one, contestants, quiet)}};
}

}  // namespace aft::bench
