#include "bench/workloads/decoding.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>

#include "bench/timing/rounds.h"

namespace aft::bench {
namespace {

using nlohmann::json;
using std::chrono::steady_clock;

constexpr int64_t kChecked = 80;     // tokens compared with float64: more than two blocks
constexpr int64_t kFewChecked = 40;  // of many rows: more than one block
constexpr int64_t kRound = 32;       // tokens of a round: one whole block of targets
constexpr int64_t kFewTokens = 8;    // of LibTorch's, which has no blocks, and of wide batches

struct DecodingRunner {
    DecodeForm form;
    std::unique_ptr<decode::Decoder> decoder;
    std::unique_ptr<decode::DecoderState> start, state;
    double error = 0;
    double limit = 0;  // seconds a step; 0 = none is given
};

// Tokens of text number `row`; all texts differ.
std::vector<int64_t> some_tokens(const ModelConfig& model, int64_t count, int64_t row = 0) {
    std::vector<int64_t> fed{-1};
    for (int64_t i = 1; i < count; ++i)
        fed.push_back((i * (7919 + 31 * row) + i * i + row) % model.levels);
    return fed;
}

at::Tensor texts_of(const ModelConfig& model, int64_t rows) {  // int64 [rows, tokens]
    const int64_t count = std::min(rows > 4 ? kFewChecked : kChecked, model.tokens());
    std::vector<at::Tensor> all;
    for (int64_t row = 0; row < rows; ++row)
        all.push_back(at::tensor(some_tokens(model, count, row), at::kLong));
    return at::stack(all);
}

at::Tensor exact_logits(const Net& net, const at::Tensor& texts) {  // [rows, tokens, levels]
    const c10::NoGradGuard off;
    Net wide(net.config(), 1);
    copy_values(net.parameters(), wide.parameters());
    for (Parameter& p : wide.parameters()) p.value.set_data(p.value.detach().to(at::kDouble));
    return wide.forward_fed(texts, {.backend = ops::OperatorBackend::reference});
}

// All rows take their own text at once, as the timed steps do.
double error_against(const at::Tensor& wanted, const at::Tensor& texts, decode::Decoder& decoder) {
    const int64_t rows = texts.size(0), count = texts.size(1);
    const auto state = decoder.start(rows);
    double error = 0;
    for (int64_t t = 0; t < count; ++t) {
        const at::Tensor column = texts.select(1, t).contiguous();
        const std::span<const float> logits =
            decoder.step({column.const_data_ptr<int64_t>(), static_cast<size_t>(rows)}, *state);
        const at::Tensor found =
            at::tensor(std::vector<float>(logits.begin(), logits.end())).view({rows, -1});
        const double away =
            (found.to(at::kDouble) - wanted.select(1, t)).abs().max().item<double>();
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
    return decode::make_decoder(*form.net, {.weights = decode::parse_weight_format(form.precision),
                                            .threads = at::get_num_threads(),
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

// Logits in float64 of the nets of a race, computed once for all weight formats.
using Truths = std::map<std::pair<const Net*, int64_t>, at::Tensor>;

double error_of(const DecodeForm& form, decode::Decoder& decoder, Truths& truths) {
    const at::Tensor texts = texts_of(form.net->config(), form.rows);
    at::Tensor& wanted = truths[{form.net, form.rows}];
    if (!wanted.defined()) wanted = exact_logits(*form.net, texts);
    return error_against(wanted, texts, decoder);
}

DecodingRunner prepared(const DecodeForm& form, Truths& truths) {
    DecodingRunner runner{form, decoder_of(form), nullptr, nullptr};
    runner.error = error_of(form, *runner.decoder, truths);
    runner.start = state_of(form, *runner.decoder);
    runner.start->select(std::vector<int64_t>(static_cast<size_t>(form.rows), 0));
    runner.state = runner.start->clone();
    return runner;
}

// Seconds a step; goes back to the start where the sequence ends.
double time_round(DecodingRunner& runner) {
    const DecodeForm& form = runner.form;
    const int64_t steps = form.way != Way::ours || form.rows > 4 ? kFewTokens : kRound;
    const int64_t until = form.until > 0 ? form.until : form.net->config().tokens();
    if (runner.state->position + steps > until) runner.state = runner.start->clone();
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
        if (one.group == ParameterGroup::linear_weight)
            numbers += static_cast<double>(one.value.numel());
    return numbers * (form.precision == "fp32" ? 4 : form.precision == "bf16" ? 2 : 1);
}

// Bytes/s at which this process reads the weights of each, and what that means for one row.
std::vector<double> read_rates(std::vector<DecodingRunner>& runners, const Calibrator& calibrator) {
    std::map<double, double> by_bytes;
    std::vector<double> rates;
    for (DecodingRunner& runner : runners) {
        const double bytes = weight_bytes(runner.form);
        double& rate = by_bytes[bytes];
        if (rate == 0) rate = calibrator.read_rate(static_cast<int64_t>(bytes));
        rates.push_back(rate);
        if (runner.form.rows > 1) continue;
        const double limit = bytes / rate;  // the best of all, as of the other rates
        runner.limit = runner.limit > 0 ? std::min(runner.limit, limit) : limit;
    }
    return rates;
}

json reads_json(const std::vector<DecodingRunner>& runners, const Conditions& conditions) {
    std::map<std::string, json> by_precision;
    for (size_t i = 0; i < runners.size(); ++i)
        if (runners[i].form.way == Way::ours)
            by_precision[runners[i].form.precision] = {
                {"precision", runners[i].form.precision},
                {"before", conditions.basis_before[i] * 1e-9},
                {"after", conditions.basis_after[i] * 1e-9}};
    json all = json::array();
    for (const auto& [precision, one] : by_precision) all.push_back(one);
    return all;
}

json runner_json(const DecodingRunner& runner, const Turn& turn, const Turn* over,
                 bool has_ratios) {
    const char* const groups[] = {"ours", "eager", "transformer"};
    json one{
        {"name", runner.form.name},           {"group", groups[static_cast<int>(runner.form.way)]},
        {"precision", runner.form.precision}, {"ours", runner.form.way == Way::ours},
        {"way", runner.decoder->name()},      {"error", number(runner.error)},
        {"rows", runner.form.rows},           {"position", runner.form.position}};
    add_times(one, turn, over, {"us", 1e6});
    const double median = one["median_us"];
    one["tokens_per_second"] = 1e6 * static_cast<double>(runner.form.rows) / median;
    if (runner.limit == 0) return one;
    one["limit_us"] = runner.limit * 1e6;
    if (has_ratios) one["x_limit"] = median / (runner.limit * 1e6);
    return one;
}

json contestants_json(const std::vector<DecodingRunner>& runners, const std::vector<Turn>& turns,
                      bool has_ratios) {
    json all = json::array();
    for (size_t i = 0; i < runners.size(); ++i) {
        const bool is_paired = has_ratios && runners[i].form.over >= 0;
        const auto over = static_cast<size_t>(std::max(runners[i].form.over, 0));
        all.push_back(
            runner_json(runners[i], turns[i], is_paired ? &turns[over] : nullptr, has_ratios));
        if (is_paired) all.back()["over"] = runners[over].form.name;
    }
    return all;
}

json claim_json(const DecodeCase::SpeedClaim& claim, const json& contestants,
                const Conditions& conditions) {
    const json &of = contestants[claim.of], &over = contestants[claim.over];
    const double found =
        claim.scale * of["median_us"].get<double>() / over["median_us"].get<double>();
    const std::string words =
        fmt::format("{} over {}: {} {}{}", of["name"].get<std::string>(),
                    over["name"].get<std::string>(), claim.at_least ? "at least" : "at most",
                    claim.bound, claim.scale == 1 ? "x" : "x in tokens a second");
    return verdict(words + found_words(found, "x", conditions),
                   claim.at_least ? found >= claim.bound : found <= claim.bound,
                   conditions.is_judged());
}

json accept_json(const DecodeCase& one, const json& contestants, const Conditions& conditions) {
    json all = json::array();
    for (size_t i = 0; i < one.forms.size(); ++i) {
        const double bound = one.forms[i].accept_x_limit;
        if (bound == 0 || !contestants[i].contains("x_limit")) continue;
        const double found = contestants[i]["x_limit"];
        all.push_back(verdict(fmt::format("{}: at most {}x limit{}", one.forms[i].name, bound,
                                          found_words(found, "x", conditions)),
                              found <= bound, conditions.is_judged()));
    }
    for (const DecodeCase::SpeedClaim& claim : one.claims)
        all.push_back(claim_json(claim, contestants, conditions));
    return all;
}

}  // namespace

ModelConfig decode_model(const std::string& mixer, bool quick) {
    ModelConfig model;
    model.task = "image";
    model.mixer = mixer;
    model.layers = quick ? 2 : 24;
    model.dim = quick ? 32 : 256;
    model.own["factors"] = quick ? 4 : 64;
    model.own["window"] = quick ? 8 : 256;  // of those that have one
    if (!mixer_traits(model).has_prior()) model.own["heads"] = 4;
    model.height = model.width = quick ? 8 : 32;
    model.channels = 3;
    model.levels = quick ? 16 : 256;
    model.init = "fan-in";
    return model;
}

std::string size_words(const ModelConfig& model) {
    return fmt::format("{} layers, d={}", model.layers, model.dim);
}

double logits_error(const DecodeForm& form, decode::Decoder& decoder) {
    Truths truths;
    return error_of(form, decoder, truths);
}

json decode_race(const DecodeCase& one, const BenchSettings& settings, const JobControl& control) {
    const c10::NoGradGuard off;
    std::vector<DecodingRunner> runners;
    Truths truths;
    for (const DecodeForm& form : one.forms) {
        if (control.stop.stop_requested()) throw Interrupted();
        runners.push_back(prepared(form, truths));
    }
    std::vector<Turn> turns;
    for (DecodingRunner& runner : runners)
        turns.push_back({.round = [&runner] { return time_round(runner); },
                         .ours = runner.form.way == Way::ours});
    const Rounds limits{.basis = [&] { return read_rates(runners, *settings.calibrator); }};
    const Conditions conditions = measure(turns, limits, settings, control);
    const json contestants = contestants_json(runners, turns, conditions.has_ratios());
    json row{{"kind", "decode"},
             {"reads", reads_json(runners, conditions)},
             {"contestants", contestants},
             {"accept", accept_json(one, contestants, conditions)}};
    row.update(conditions_json(conditions));
    return row;
}

namespace {

struct LateNets {
    Net simple, late, attention;
    LateNets(const std::string& mixer, bool quick)
        : simple(decode_model("aft-simple", quick), 1),
          late(decode_model(mixer, quick), 1),
          attention(decode_model("softmax", quick), 1) {}
};

int64_t late_position(bool quick) {
    return quick ? 100 : 2976;  // rounds of 32 tokens up to 3072
}

// Both at the beginning too: the time of a token must not grow with those before it. The first two
// forms are theirs late in a picture.
void add_early(const LateCase& late, const LateNets& nets, DecodeCase& one) {
    constexpr int64_t kFirst = 16;
    if (late.over_early == 0) return;
    const std::pair<std::string, const Net*> both[] = {{"simple", &nets.simple},
                                                       {late.word, &nets.late}};
    for (size_t i = 0; i < 2; ++i) {
        one.claims.push_back({i, one.forms.size(), late.over_early});
        one.forms.push_back(
            {.name = fmt::format("afterimage {} fp32, from token {}", both[i].first, kFirst),
             .net = both[i].second,
             .position = kFirst,
             .until = kFirst + kRound});
    }
}

DecodeCase late_case(const LateCase& late, const LateNets& nets, bool quick) {
    DecodeCase one;
    int place = 0;
    for (const std::string precision : {"fp32", "bf16", "int8"}) {
        DecodeForm form{.name = "afterimage simple " + precision,
                        .precision = precision,
                        .net = &nets.simple,
                        .position = late_position(quick)};
        one.forms.push_back(form);
        form.name = fmt::format("afterimage {} {}", late.word, precision);
        form.net = &nets.late;
        form.over = place;
        one.forms.push_back(form);
        one.claims.push_back(
            {static_cast<size_t>(place) + 1, static_cast<size_t>(place), late.bound});
        place += 2;
    }
    for (const auto& [precision, over] : {std::pair{"fp32", 1}, {"bf16", 3}})
        one.forms.push_back({.name = fmt::format("Transformer, key-value cache, {}", precision),
                             .precision = precision,
                             .net = &nets.attention,
                             .position = late_position(quick),
                             .way = Way::cache,
                             .over = over});
    add_early(late, nets, one);
    if (late.eager_position == 0) return one;
    const int64_t position = quick ? 20 : late.eager_position;
    one.forms.push_back({.name = fmt::format("LibTorch eager, at t={}", position),
                         .net = &nets.late,
                         .position = position,
                         .way = Way::eager,
                         .over = 1});
    return one;
}

}  // namespace

std::vector<RowPlan> late_rows(const LateCase& late, bool quick) {
    const ModelConfig model = decode_model(late.mixer, quick);
    return {{fmt::format("{}, one stream, from token {}", size_words(model), late_position(quick)),
             [late](const BenchSettings& settings, const JobControl& control) {
                 const LateNets nets(late.mixer, settings.quick);
                 return decode_race(late_case(late, nets, settings.quick), settings, control);
             }}};
}

}  // namespace aft::bench
