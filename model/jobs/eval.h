// Job: measures a model on data. Plain types. No LibTorch. Blocks until done; any thread.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/paired.h"
#include "core/progress.h"
#include "model/data/baselines.h"

namespace aft {

class RankGroup;

struct EvalRequest {
    std::string model{}, data{};  // data: "" = those that the model was trained on
    std::string split{};  // train, validation, test; "" = what the data say, else the usual part
    std::string examples_file{};  // CSV, a line for each example; "" = none
    std::string device = "cpu";
    int64_t limit = 0;   // at most so many examples, spread over the part; 0 = all
    int64_t index = -1;  // from 0: the examples from this one on, in a row
    int64_t stride = 0;  // text: step of overlapping windows; 0 = windows side by side
    int64_t batch = 0;   // examples at once; 0 = as fits
    bool ema = false;    // the moving average of the weights
    // File of interventions (jobs/recipe.h): the model is measured without and with them.
    std::string recipe{};
    // Classes of data that have names: "exact" = the model's in their order, else "by-name".
    std::string classes = "exact";
    RankGroup* ranks = nullptr;  // processes that share the batches; none: alone. Outlives the job.
};

// Of tasks with classes.
struct EvalClasses {
    std::vector<std::string> names{};  // of the data; empty = they have none
    int64_t count = 0;
    std::vector<int64_t> confusion{};  // [count, count]: examples by label, then by answer
    double top5 = 0;                   // share whose label is among the five most probable
    [[nodiscard]] int64_t examples_of(int64_t label) const;
    [[nodiscard]] double accuracy_of(int64_t label) const;  // NaN: no example of it
};

// What measuring took, and on what.
struct EvalCost {
    int64_t parameters = 0;
    // Of the forward pass of one example (model/net/cost.h); none where the mixer states no cost.
    std::optional<double> flops_per_example{};
    double seconds = 0;
    int64_t peak_memory_bytes = 0;  // of the process
    std::string device{};
    int64_t seed = 0;  // of the model's training; moves generated data
};

// What a recipe does to the model on the same examples.
struct EvalChange {
    double untouched_loss_nats = 0, untouched_metric = 0;
    PairedChange metric{};  // of the metric, example by example
};

struct EvalResult {
    std::string model{}, data{};           // as asked for; the data that were measured
    int64_t step = 0;                      // of the weights
    std::string task{}, split{};           // split: part of the data: train, validation, test
    int64_t tokens = 0, examples = 0;      // that were measured
    double loss_nats = 0;                  // mean over the tokens
    std::string metric{};                  // the task's, as in TaskTraits: "bits_per_dim"
    double metric_value = 0;               // mean over the examples or, from the loss, the tokens
    std::optional<double> metric_error{};  // standard error of that mean over the examples
    std::optional<double> perplexity{};    // exp(loss_nats); text only
    std::optional<EvalClasses> classes{};
    std::optional<double> floor_bits{};    // entropy of the data in bits/dim, where it is known
    std::string floor_note{};              // how it was computed
    std::optional<Baselines> baselines{};  // on the same pictures; none for text and classes
    std::string note{};                    // what to know of the split; "" = nothing
    std::optional<EvalChange> change{};    // with a recipe; the result is the changed model's
    EvalCost cost{};
};
// Error where the loss is not a number: names the first weights that are not finite, if any are.
// With ranks every process calls it for the same request; all get the sums of one process, bit for
// bit, and rank 0 alone writes files and measures the baselines.
[[nodiscard]] EvalResult eval_job(const EvalRequest& request, const JobControl& control);

}  // namespace aft
