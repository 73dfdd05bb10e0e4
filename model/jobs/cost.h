// Job: what a model costs part by part, and what every mixer would cost in its place, against the
// length of the sequence (Zhai et al. 2021, Table 1, as numbers). Counted, not measured, but for
// the two rates that times are estimated from. Plain types. No LibTorch. Blocks for less than a
// second beside reading the model; any thread.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "model/config.h"
#include "model/net/cost.h"

namespace aft {

inline constexpr int64_t kMostCostTokens = int64_t{1} << 20;  // as ModelConfig::check()
inline constexpr size_t kMostCostLengths = 64;

struct CostRequest {
    std::string model{};  // checkpoint or run folder; "" = the config
    Config config{};      // of a preset, checked
    // T, 1 to kMostCostTokens; empty = a doubling series around the model's.
    std::vector<int64_t> lengths{};
    std::string device = "cpu";  // whose rates are measured
};

// Measured now, on this machine: a square product in float32, and a copy in memory (bytes read and
// bytes written).
struct CostRates {
    double flops_per_second = 0, bytes_per_second = 0;
    std::string device{};
};

// Estimates: the larger of FLOPs at the one rate and bytes at the other. Bytes: weights once and
// activations twice (train: three and four times), for a token weights and state once.
struct CostSeconds {
    double forward = 0, train = 0, token = 0;  // train: forward and backward
};

// One layer with this mixer, made for so many tokens.
struct CostRow {
    std::string mixer{};
    bool is_own = false;                 // the model's
    std::vector<std::string> changed{};  // "model.heads=1": settings other than the model's
    CostShape shape{};
    MixerCost cost{};
    CostSeconds seconds{};
};

struct CostGap {
    std::string mixer{};
    int64_t tokens = 0;  // 0: at no length
    std::string reason{};
};

struct CostResult {
    std::string file{};  // "" = a preset
    Config config{};
    int64_t tokens = 0;   // of the model
    bool decodes = true;  // predicts token by token
    NetCost net{};        // at the model's tokens, one example
    CostSeconds seconds{};
    CostRates rates{};
    std::vector<CostRow> rows{};  // by mixer in the order of the list, then by length
    std::vector<CostGap> gaps{};  // what cannot be
};

// usage Error on a length that is not allowed.
[[nodiscard]] CostResult cost_job(const CostRequest& request);

}  // namespace aft
