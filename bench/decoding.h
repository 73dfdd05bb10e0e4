// A race of decoders: one token of n rows at a time, each from its own state at the same position.
// LibTorch inside; bench/ only, on the thread that runs the benchmark.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "bench/workload.h"
#include "model/config.h"
#include "model/decode/decoder.h"
#include "model/nn/net.h"

namespace aft::bench {

// 32 x 32 x 3 with 256 values, 24 layers of d = 256; quick: tiny.
[[nodiscard]] ModelConfig decode_model(const std::string& mixer, bool quick);

struct DecodeForm {
    std::string name, precision = "fp32";
    const Net* net = nullptr;
    int64_t rows = 1;
    int64_t position = 0;  // tokens that its state has seen before the first round
    bool eager = false;    // LibTorch's own operations
};

struct DecodeCase {
    std::string name;
    std::vector<DecodeForm> forms = {};  // times are given over those of the first
    // Of two forms: time of `of` over time of `over` is at most (or with at_least: at least) this.
    struct Claim {
        size_t of = 0, over = 0;
        double bound = 0;
        bool at_least = false;
        double scale = 1;  // of the quotient: rows where tokens a second are compared
    };
    std::vector<Claim> claims = {};
};

// {"kind": "decode", "case", "contestants": [{"name", "precision", "ours", "error", "rows",
// "position", "least_us", "median_us" (a step), "tokens_per_second", "over_first", "low", "high"}],
// "weight_read_gbs", "others", "contended", "accept"}. Logits are checked against float64 first.
[[nodiscard]] nlohmann::json decode_race(const DecodeCase& one, const Settings& settings,
                                         const JobControl& control);

}  // namespace aft::bench
