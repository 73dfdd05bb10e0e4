// A race of decoders: one token of n rows at a time, each from its own state at the same position.
// LibTorch inside; bench/ only, on the thread that runs the benchmark.
#pragma once
#include <ATen/core/Tensor.h>

#include <memory>
#include <string>
#include <vector>

#include "bench/workloads/workload.h"
#include "model/config.h"
#include "model/decode/decoder.h"
#include "model/net/net.h"

namespace aft::bench {

// 32 x 32 x 3 with 256 values, 24 layers of d = 256; quick: tiny.
[[nodiscard]] ModelConfig decode_model(const std::string& mixer, bool quick);

[[nodiscard]] std::string size_words(const ModelConfig& model);  // "24 layers, d=256"

enum class Way {
    ours,
    eager,  // LibTorch's own operations, as the net itself decodes without our kernels
    cache,  // a Transformer with its keys and values kept, in its best plain form (transformer.cpp)
};

struct DecodeForm {
    std::string name, precision = "fp32";
    const Net* net = nullptr;
    int64_t rows = 1;
    int64_t position = 0;  // tokens that its state has seen before the first round
    int64_t until = 0;     // where it goes back to `position`; 0 = at the end of the sequence
    Way way = Way::ours;
    int over = -1;  // index of the baseline form (same precision) of the ratio; -1 = none
    double accept_x_limit = 0;  // at most; 0 = no target
};

struct DecodeCase {
    std::vector<DecodeForm> forms = {};
    // Of two forms: time of `of` over time of `over` is at most (or with at_least: at least) this.
    struct SpeedClaim {
        size_t of = 0, over = 0;
        double bound = 0;
        bool at_least = false;
        double scale = 1;  // of the quotient: rows where tokens a second are compared
    };
    std::vector<SpeedClaim> claims = {};
};

// {"kind": "decode", the conditions (rounds.h) with "reads": [{"precision", "before", "after"}] in
// GB/s, "contestants": [{"name", "group", "precision", "ours", "way", "error", "rows", "position",
// the times of a step (rounds.h) in us, "tokens_per_second", "limit_us", "x_limit"}], "accept"}.
// The limit of one row is the bytes of the weights at the rate at which this process reads that
// much memory. Before any time the logits of `rows` different texts are checked against float64.
[[nodiscard]] nlohmann::json decode_race(const DecodeCase& one, const BenchSettings& settings,
                                         const JobControl& control);

// A mixer with position biases late in a picture, against aft-simple at the same place.
struct LateCase {
    std::string mixer, word;     // "aft-local", "local"
    double bound = 0;            // over aft-simple in the same precision, at most
    int64_t eager_position = 0;  // where LibTorch's own decoding is timed; 0 = nowhere
    double over_early = 0;       // over its own time from token 16 on, at most; 0 = not timed
};
[[nodiscard]] std::vector<RowPlan> late_rows(const LateCase& late, bool quick);
// Error of the logits of this form, relative to the largest (the check before the times).
[[nodiscard]] double logits_error(const DecodeForm& form, decode::Decoder& decoder);

// The peer with a cache for nets of softmax attention, weights in float32 or bfloat16.
[[nodiscard]] std::unique_ptr<decode::Decoder> make_cached_transformer(const Net& net,
                                                                       at::ScalarType type);
// Its state after `position` tokens, without having taken them: keys and values are random.
[[nodiscard]] std::unique_ptr<decode::DecoderState> late_cache(const Net& net, at::ScalarType type,
                                                               int64_t position);

}  // namespace aft::bench
