// One 32 x 32 x 3 sample and the completion of a lower half, from the request to the picture:
// packing the weights, known tokens, 3072 or 1536 drawn ones.
#include <chrono>

#include "bench/calibrate.h"
#include "bench/decoding.h"
#include "bench/statistics.h"
#include "model/decode/decode.h"

namespace aft::bench {
namespace {

using nlohmann::json;

struct Picture {
    std::string name;
    const Net* net = nullptr;
    bool half = false;
};

double seconds_of(const Picture& one, const std::string& precision, const JobControl& control) {
    CompletionRequest request;
    const auto tokens = static_cast<size_t>(one.net->config().tokens());
    request.tokens.assign(tokens, 3);
    request.unknown.assign(tokens, 1);
    if (one.half) std::fill_n(request.unknown.begin(), tokens / 2, uint8_t{0});
    request.sample.samples = 1;
    request.sample.weights = precision;
    const auto begin = std::chrono::steady_clock::now();
    const Completion done = run_completion(*one.net, request, {}, control);
    if (done.stopped) throw Interrupted();
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - begin;
    return time.count();
}

json rows(const Settings& settings, const JobControl& control) {
    const Net simple(decode_model("aft-simple", settings.quick), 1);
    const Net local(decode_model("aft-local", settings.quick), 1);
    const std::vector<Picture> pictures{{"aft-simple, whole", &simple, false},
                                        {"aft-simple, lower half", &simple, true},
                                        {"aft-local, whole", &local, false}};
    const int64_t rounds = std::min<int64_t>(settings.rounds, 2);
    json all = json::array();
    for (const char* precision : {"fp32", "bf16", "int8"}) {
        std::vector<std::vector<double>> times(pictures.size());
        const Neighbours neighbours;
        for (int64_t round = 0; round < rounds; ++round)
            for (size_t i = 0; i < pictures.size(); ++i)
                times[i].push_back(seconds_of(pictures[i], precision, control));
        const bool judged = !settings.quick && neighbours.share() <= kContended;
        json contestants = json::array();
        for (size_t i = 0; i < pictures.size(); ++i)
            contestants.push_back({{"name", "afterimage " + pictures[i].name},
                                   {"precision", precision},
                                   {"ours", true},
                                   {"least_s", summarize(times[i]).least},
                                   {"median_s", summarize(times[i]).median}});
        const auto median = [&](size_t i) { return contestants[i]["median_s"].get<double>(); };
        json accept = json::array();
        const auto claim = [&](const std::string& words, bool met) {
            accept.push_back({{"words", words},
                              {"state", !judged ? "not judged"
                                        : met   ? "met"
                                                : "missed"}});
        };
        if (std::string(precision) == "int8") claim("whole in at most 1.7 s", median(0) <= 1.7);
        claim("lower half at most 0.55x", median(1) <= 0.55 * median(0));
        claim("aft-local at most 1.3x", median(2) <= 1.3 * median(0));
        all.push_back({{"kind", "image"},
                       {"case", fmt::format("32x32x3, 24 layers, d=256, {}", precision)},
                       {"contestants", contestants},
                       {"accept", accept}});
    }
    return all;
}

}  // namespace

WorkloadRoom image_workload() {
    return {.info = {"image", "one picture from the request to the last value"}, .rows = rows};
}

}  // namespace aft::bench
