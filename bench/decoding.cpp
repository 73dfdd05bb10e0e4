#include "bench/decoding.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <thread>

#include "bench/rounds.h"

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
    double limit = 0;  // seconds a step; 0 = none is given
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

at::ScalarType type_of(const std::string& precision) {
    return precision == "bf16" ? at::kBFloat16 : at::kFloat;
}

std::unique_ptr<decode::Decoder> decoder_of(const DecodeForm& form) {
    if (form.way == Way::cache) return make_cached_transformer(*form.net, type_of(form.precision));
    const auto threads = static_cast<int64_t>(std::thread::hardware_concurrency());
    return decode::make_decoder(*form.net, {.weights = decode::parse_weight_format(form.precision),
                                            .threads = threads,
                                            .eager = form.way == Way::eager});
}

std::unique_ptr<decode::DecoderState> state_of(const DecodeForm& form, decode::Decoder& decoder) {
    if (form.way == Way::cache && form.position > 0)
        return late_cache(*form.net, type_of(form.precision), form.position);
    std::unique_ptr<decode::DecoderState> state = decoder.start(1);
    const auto known = some_tokens(form.net->config(), std::max<int64_t>(form.position, 1));
    if (form.position > 0) decoder.feed(known, *state, nullptr);
    return state;
}

Runner prepared(const DecodeForm& form) {
    Runner runner{form, decoder_of(form), nullptr, nullptr};
    runner.error = error_of_logits(*runner.decoder, *form.net);
    runner.start = state_of(form, *runner.decoder);
    runner.start->select(std::vector<int64_t>(static_cast<size_t>(form.rows), 0));
    runner.state = runner.start->clone();
    return runner;
}

// Seconds a step; goes back to the start where the sequence ends.
double time_round(Runner& runner) {
    const DecodeForm& form = runner.form;
    const int64_t steps = form.way != Way::ours || form.rows > 4 ? kFewTokens : kRound;
    if (runner.state->position + steps > form.net->config().tokens())
        runner.state = runner.start->clone();
    const std::vector<int64_t> tokens(static_cast<size_t>(form.rows), 1);
    const auto begin = steady_clock::now();
    for (int64_t i = 0; i < steps; ++i)
        static_cast<void>(runner.decoder->step(tokens, *runner.state));
    const std::chrono::duration<double> time = steady_clock::now() - begin;
    return time.count() / static_cast<double>(steps);
}

// Every weight of a linear map is needed once for one token.
double weight_bytes(const DecodeForm& form) {
    double numbers = 0;
    for (const Parameter& one : form.net->parameters())
        if (one.group == Group::linear_weight) numbers += static_cast<double>(one.value.numel());
    return numbers * (form.precision == "fp32" ? 4 : form.precision == "bf16" ? 2 : 1);
}

void take_limits(std::vector<Runner>& runners, const Settings& settings) {
    for (Runner& runner : runners) {
        if (runner.form.rows > 1) continue;
        const double bytes = weight_bytes(runner.form);
        const double rate = settings.calibrator->read_rate(static_cast<int64_t>(bytes));
        const double limit = bytes / rate;
        runner.limit = runner.limit > 0 ? std::min(runner.limit, limit) : limit;
    }
}

json runner_json(const Runner& runner, const Turn& turn, const Turn* first) {
    const char* const groups[] = {"ours", "eager", "transformer"};
    json one{
        {"name", runner.form.name},           {"group", groups[static_cast<int>(runner.form.way)]},
        {"precision", runner.form.precision}, {"ours", runner.form.way == Way::ours},
        {"way", runner.decoder->name()},      {"error", number(runner.error)},
        {"rows", runner.form.rows},           {"position", runner.form.position}};
    add_times(one, turn, first, {"us", 1e6});
    const double median = one["median_us"];
    one["tokens_per_second"] = 1e6 * static_cast<double>(runner.form.rows) / median;
    if (runner.limit == 0) return one;
    one["limit_us"] = runner.limit * 1e6;
    if (first != nullptr) one["x_limit"] = median / (runner.limit * 1e6);
    return one;
}

json claim_json(const DecodeCase::Claim& claim, const json& contestants, bool is_judged) {
    const json &of = contestants[claim.of], &over = contestants[claim.over];
    const double found =
        claim.scale * of["median_us"].get<double>() / over["median_us"].get<double>();
    return verdict(
        fmt::format("{} over {}: {} {}{} (found {:.2f})", of["name"].get<std::string>(),
                    over["name"].get<std::string>(), claim.at_least ? "at least" : "at most",
                    claim.bound, claim.scale == 1 ? "x" : "x in tokens a second", found),
        claim.at_least ? found >= claim.bound : found <= claim.bound, is_judged);
}

json accept_json(const DecodeCase& one, const json& contestants, bool is_judged) {
    json all = json::array();
    for (size_t i = 0; i < one.forms.size(); ++i) {
        const double bound = one.forms[i].accept_x_limit;
        if (bound == 0 || !contestants[i].contains("x_limit")) continue;
        const double found = contestants[i]["x_limit"];
        all.push_back(verdict(
            fmt::format("{}: at most {}x limit (found {:.2f})", one.forms[i].name, bound, found),
            found <= bound, is_judged));
    }
    for (const DecodeCase::Claim& claim : one.claims)
        all.push_back(claim_json(claim, contestants, is_judged));
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
    std::vector<Turn> turns;
    for (Runner& runner : runners)
        turns.push_back({.round = [&runner] { return time_round(runner); },
                         .ours = runner.form.way == Way::ours});
    take_limits(runners, settings);
    const Conditions conditions = measure(turns, {}, settings, control);
    take_limits(runners, settings);  // the better of two, as of the other rates
    const Turn* const first = conditions.has_ratios() ? turns.data() : nullptr;
    json contestants = json::array();
    for (size_t i = 0; i < runners.size(); ++i)
        contestants.push_back(runner_json(runners[i], turns[i], first));
    json row{{"kind", "decode"},
             {"case", one.name},
             {"contestants", contestants},
             {"accept", accept_json(one, contestants, conditions.is_judged())}};
    row.update(conditions_json(conditions));
    return row;
}

json late_rows(const LateCase& late, const Settings& settings, const JobControl& control) {
    const Net simple(decode_model("aft-simple", settings.quick), 1),
        net(decode_model(late.mixer, settings.quick), 1),
        attention(decode_model("softmax", settings.quick), 1);
    const int64_t position = settings.quick ? 100 : 2976;  // rounds of 32 tokens up to 3072
    DecodeCase one{.name = "24 layers, d=256, one stream, at t=3000"};
    for (const std::string precision : {"fp32", "bf16", "int8"}) {
        for (const auto& [word, of] :
             {std::pair{std::string("simple"), &simple}, {late.word, &net}})
            one.forms.push_back({.name = fmt::format("afterimage {} {}", word, precision),
                                 .precision = precision,
                                 .net = of,
                                 .position = position});
        one.claims.push_back({one.forms.size() - 1, one.forms.size() - 2, late.bound});
    }
    for (const std::string precision : {"fp32", "bf16"})
        one.forms.push_back({.name = "Transformer, key-value cache, " + precision,
                             .precision = precision,
                             .net = &attention,
                             .position = position,
                             .way = Way::cache});
    if (late.eager_position > 0)
        one.forms.push_back({.name = fmt::format("LibTorch eager, at t={}", late.eager_position),
                             .net = &net,
                             .position = settings.quick ? 20 : late.eager_position,
                             .way = Way::eager});
    return {decode_race(one, settings, control)};
}

}  // namespace aft::bench
