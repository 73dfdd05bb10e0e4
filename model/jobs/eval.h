// Job: measures a model on data. Plain types. No LibTorch. Blocks until done; any thread.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "core/progress.h"
#include "model/data/baselines.h"

namespace aft {

struct EvalRequest {
    std::string model, data, device = "cpu";
    int64_t limit = 0;   // at most so many examples; 0 = all
    int64_t stride = 0;  // text: step of overlapping windows; 0 = windows side by side
    int64_t batch = 0;   // examples at once; 0 = as fits
    bool ema = false;    // the moving average of the weights
    // Classes of data that have names: "exact" = the model's in their order, else "by-name".
    std::string classes = "exact";
};
struct EvalResult {
    std::string model, data;             // as asked for
    int64_t step = 0;                    // of the weights
    std::string task, split;             // split: part of the data: train, validation, test
    int64_t tokens = 0, examples = 0;    // that were measured
    double loss_nats = 0;                // mean over the tokens
    std::string metric;                  // the task's, as in TaskTraits: "bits_per_dim"
    double metric_value = 0;             // mean over the examples or, from the loss, the tokens
    std::optional<double> floor_bits;    // entropy of the data in bits/dim, where it is known
    std::string floor_note;              // how it was computed
    std::optional<Baselines> baselines;  // on the same pictures; none for text and classes
    std::string note;                    // what to know of the split; "" = nothing
};
[[nodiscard]] EvalResult eval_job(const EvalRequest& request, const JobControl& control);

}  // namespace aft
