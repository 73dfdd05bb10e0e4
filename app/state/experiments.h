// Standing experiments: what is measured anew at every saved step of a run, chosen once: a list of
// interventions and its price on a batch; a masked picture or a prompt and its completion. Kept
// in the user's settings by the run's path (RunNotes), as JSON that is read defensively. Plain
// data; any thread.
#pragma once
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "model/recipe.h"

namespace aft::app {

// The loss of a batch of the model's data, without and with a recipe.
struct WatchedRecipe {
    std::string name{};                // the user's
    Recipe recipe{};                   // of what is on
    std::string split{};               // part of the data; empty: the usual one
    int64_t first = 0, examples = 64;  // of that part
    [[nodiscard]] bool operator==(const WatchedRecipe&) const = default;
    // The same, whatever its name.
    [[nodiscard]] bool measures_as(const WatchedRecipe& other) const;
};

// One sample, under the same random numbers at every step. The source is a prompt where `mask` is
// empty; else a picture: a file, an example of the data (`split`), or blank where neither is named.
struct WatchedCompletion {
    std::string name{};  // the user's
    std::string prompt{}, path{}, split{};
    int64_t index = 0;              // of the split
    int64_t length = 0;             // bytes that are added to the prompt
    int64_t height = 0, width = 0;  // of the mask
    std::vector<uint8_t> mask{};    // [height, width], 1 = to be filled
    double temperature = 1, top_p = 1;
    int64_t top_k = 0, particles = 1;
    uint64_t seed = 1;
    [[nodiscard]] bool operator==(const WatchedCompletion&) const = default;
    [[nodiscard]] bool measures_as(const WatchedCompletion& other) const;
};

struct Experiments {
    static constexpr size_t kMostOfAKind = 8;
    std::vector<WatchedRecipe> recipes{};
    std::vector<WatchedCompletion> completions{};
    [[nodiscard]] bool operator==(const Experiments&) const = default;
    [[nodiscard]] bool is_empty() const { return recipes.empty() && completions.empty(); }
};

// Those of `more` that `to` does not measure yet, up to kMostOfAKind.
void add_missing(Experiments& to, const Experiments& more);

[[nodiscard]] nlohmann::json experiments_to_json(const Experiments& experiments);
// Numbers out of range come to its end; beyond kMostOfAKind the rest is left out. What cannot be
// read is an Error that names the key, what was found and what is allowed; with `left_out` its
// words go there and the others are read.
[[nodiscard]] Experiments experiments_from_json(const nlohmann::json& json,
                                                std::vector<std::string>* left_out = nullptr);
// Bytes that it takes where it is kept; more than kMostExperimentBytes are refused by the window.
inline constexpr size_t kMostExperimentBytes = size_t{1} << 16;
[[nodiscard]] size_t kept_bytes(const Experiments& experiments);

}  // namespace aft::app
