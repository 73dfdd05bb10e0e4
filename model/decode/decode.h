// Decoding: sampling one token at a time from per-mixer state, masked completion, log-likelihood.
// Worker thread (or a job's). Results never depend on batching: our own decoder computes every row
// by itself, LibTorch's runs in fixed groups of kGroup samples, padded; and random numbers are
// keyed by (seed, sample, position).
#pragma once
#include <cstdint>
#include <functional>
#include <vector>

#include "core/progress.h"
#include "model/completion.h"
#include "model/net/net.h"
#include "model/requests.h"

namespace aft {

inline constexpr int64_t kGroup = 8;

namespace decode {
class KeptDecoder;
}

// Chooses a token from log-probabilities [V] (float): temperature (0 = greedy), then top-k, then
// top-p.
[[nodiscard]] int64_t choose_token(const float* logits, int64_t levels,
                                   const SampleOptions& options, double uniform);

// Runs a completion; publish is called about every `publish_ms` and at the end with a fresh copy.
// between_tokens: called between tokens (the worker serves waiting probes there).
struct CompletionHooks {
    std::function<void(const Completion&)> publish = [](const Completion&) {};
    std::function<void()> between_tokens = [] {};
    double publish_ms = 100;
    int64_t first_sample = 0;  // number of the first one: its random numbers are those of that one
    const Completion* continued = nullptr;  // what request.from_position continues
    decode::KeptDecoder* kept = nullptr;    // none: the weights are packed for this one alone
    uint64_t version = 0;                   // of the weights, for `kept`
};
[[nodiscard]] Completion run_completion(const Net& net, const CompletionRequest& request,
                                        const CompletionHooks& hooks, const JobControl& control);

// Log-likelihood in nats of tokens [T] at the positions where `counted` is 1 (parallel evaluation).
[[nodiscard]] double log_likelihood(const Net& net, const std::vector<uint8_t>& tokens,
                                    const std::vector<uint8_t>& counted);

}  // namespace aft
