// One 32 x 32 x 3 sample and the completion of a lower half, from the request to the picture:
// packing the weights, known tokens, 3072 or 1536 drawn ones. The peers are timed at some tokens
// spread over the picture, and the time of all of them is reckoned from these.
#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <chrono>

#include "bench/timing/rounds.h"
#include "bench/workloads/decoding.h"
#include "core/clock.h"
#include "model/decode/decode.h"

namespace aft::bench {
namespace {

using nlohmann::json;
using std::chrono::steady_clock;

constexpr int64_t kPlaces = 4;  // of a picture, at 1/8, 3/8, 5/8 and 7/8
constexpr int64_t kTokens = 8;  // of the Transformer at each place

// All of it, or a little: what warms up before the first that counts.
enum class Effort { warm_up, whole };

struct PictureTask {
    std::string name;
    const Net* net = nullptr;
    bool half = false;
};

double seconds_of(const PictureTask& one, const std::string& precision, Effort effort,
                  const JobControl& control) {
    CompletionRequest request;
    const auto tokens = static_cast<size_t>(one.net->config().tokens());
    const size_t known = effort == Effort::warm_up ? tokens / 16 * 15 : one.half ? tokens / 2 : 0;
    request.tokens.assign(tokens, 3);
    request.unknown.assign(tokens, 1);
    std::fill_n(request.unknown.begin(), known, uint8_t{0});
    request.sample.samples = 1;
    request.sample.weights = precision;
    const auto begin = steady_clock::now();
    const Completion done = run_completion(*one.net, request, {}, control);
    if (done.stopped) throw Interrupted();
    return seconds_since(begin);
}

int64_t place(const Net& net, int64_t i) {
    return net.config().tokens() * (2 * i + 1) / (2 * kPlaces);
}

int64_t places(Effort effort) {
    return effort == Effort::warm_up ? 1 : kPlaces;
}

// A whole picture when every token runs all tokens before it again.
double recomputed_seconds(const Net& net, Effort effort) {
    const c10::NoGradGuard off;
    double sum = 0;
    for (int64_t i = 0; i < places(effort); ++i) {
        const at::Tensor fed = at::full({1, place(net, i)}, 3, at::kLong);
        const auto begin = steady_clock::now();
        static_cast<void>(net.forward_fed(fed, {}));
        sum += seconds_since(begin);
    }
    return sum * static_cast<double>(net.config().tokens()) / kPlaces;
}

double cached_seconds(const Net& net, at::ScalarType type, Effort effort) {
    const std::unique_ptr<decode::Decoder> decoder = make_cached_transformer(net, type);
    const int64_t token = 3;
    double sum = 0;
    for (int64_t i = 0; i < places(effort); ++i) {
        const auto state = late_cache(net, type, place(net, i));
        const auto begin = steady_clock::now();
        for (int64_t t = 0; t < kTokens; ++t) static_cast<void>(decoder->step({&token, 1}, *state));
        sum += seconds_since(begin);
    }
    return sum * static_cast<double>(net.config().tokens()) / (kPlaces * kTokens);
}

struct Nets {
    Net simple, local, attention;
    explicit Nets(bool quick)
        : simple(decode_model("aft-simple", quick), 1),
          local(decode_model("aft-local", quick), 1),
          attention(decode_model("softmax", quick), 1) {}
};

json accept_json(const json& contestants, const std::string& precision,
                 const Conditions& conditions) {
    const bool is_judged = conditions.is_judged();
    const auto median = [&](size_t i) { return contestants[i]["median_s"].get<double>(); };
    const auto found = [&](double value) { return found_words(value, "x", conditions); };
    json accept = json::array();
    if (precision == "int8")
        accept.push_back(
            verdict("whole in at most 1.7 s" + found_words(median(0), " s", conditions),
                    median(0) <= 1.7, is_judged));
    const double half = median(1) / median(0), local = median(2) / median(0);
    accept.push_back(verdict("lower half at most 0.55x" + found(half), half <= 0.55, is_judged));
    accept.push_back(verdict("aft-local at most 1.3x" + found(local), local <= 1.3, is_judged));
    return accept;
}

using Round = std::function<double(Effort effort)>;

struct Contestants {
    std::vector<Turn> turns;
    std::vector<Round> rounds;
    json list = json::array();
    void add(const std::string& name, const std::string& precision, bool ours, const Round& round) {
        list.push_back({{"name", name},
                        {"group", ours ? "ours" : "reckoned from some tokens"},
                        {"precision", precision},
                        {"ours", ours}});
        turns.push_back({.round = [round] { return round(Effort::whole); }, .ours = ours});
        rounds.push_back(round);
    }
};

Contestants contestants_of(const Nets& nets, const std::string& precision,
                           const JobControl& control) {
    Contestants all;
    for (const PictureTask& one : {PictureTask{"aft-simple, whole", &nets.simple, false},
                                   PictureTask{"aft-simple, lower half", &nets.simple, true},
                                   PictureTask{"aft-local, whole", &nets.local, false}})
        all.add("afterimage " + one.name, precision, true,
                [one, precision, &control](Effort effort) {
                    return seconds_of(one, precision, effort, control);
                });
    if (precision == "fp32")
        all.add("aft-simple, every token recomputed (reckoned)", precision, false,
                [&nets](Effort effort) { return recomputed_seconds(nets.simple, effort); });
    const at::ScalarType type = precision == "bf16" ? at::kBFloat16 : at::kFloat;
    if (precision != "int8")
        all.add(
            "Transformer, key-value cache (reckoned)", precision, false,
            [&nets, type](Effort effort) { return cached_seconds(nets.attention, type, effort); });
    return all;
}

// All over the first: ours, a whole picture, which is what the peers' times are of.
void add_results(Contestants& all, bool has_ratios) {
    for (size_t i = 0; i < all.turns.size(); ++i) {
        add_times(all.list[i], all.turns[i], has_ratios ? all.turns.data() : nullptr, {"s", 1});
        if (all.list[i].contains("ratio")) all.list[i]["over"] = all.list[0]["name"];
    }
}

json row_of(const std::string& precision, const BenchSettings& settings,
            const JobControl& control) {
    const Nets nets(settings.quick);
    Contestants all = contestants_of(nets, precision, control);
    for (const Round& round : all.rounds) {
        if (control.stop.stop_requested()) throw Interrupted();
        static_cast<void>(round(Effort::warm_up));
    }
    // A whole picture is a long measurement in itself.
    BenchSettings few = settings;
    few.rounds = std::min<int64_t>(settings.rounds, precision == "fp32" ? 2 : 3);
    const Conditions conditions =
        measure(all.turns, {.warm_up = false, .by_bytes = false}, few, control);
    add_results(all, conditions.has_ratios());
    json row{{"kind", "image"},
             {"contestants", all.list},
             {"accept", accept_json(all.list, precision, conditions)}};
    row.update(conditions_json(conditions));
    return row;
}

std::vector<RowPlan> rows(bool quick) {
    const ModelConfig model = decode_model("aft-simple", quick);
    std::vector<RowPlan> plans;
    for (const std::string precision : {"fp32", "bf16", "int8"})
        plans.push_back({fmt::format("{}x{}x{}, {}, {}", model.width, model.height, model.channels,
                                     size_words(model), precision),
                         [precision](const BenchSettings& settings, const JobControl& control) {
                             return row_of(precision, settings, control);
                         }});
    return plans;
}

}  // namespace

WorkloadRoom image_workload() {
    return {.info = {"image", "one picture from the request to the last value"}, .rows = rows};
}

}  // namespace aft::bench
