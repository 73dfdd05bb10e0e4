// Job: fills the masked part of a picture, or continues a text. Plain types. No LibTorch. Blocks
// until done; any thread.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/progress.h"
#include "model/requests.h"

namespace aft {

class RankGroup;

// Another value in place of the drawn one: what follows it is drawn anew, with the same random
// numbers.
struct ChangedValue {
    int64_t sample = 0, position = 0, level = 0;
};
struct CompleteRequest {
    std::string model, image, mask, data, device = "cpu";
    std::optional<std::string> prompt;  // text to continue; empty: from nothing
    int64_t index = 0;                  // of data, when no image is given
    int64_t keep_rows = -1, length = 256;
    SampleOptions sample;
    std::optional<ChangedValue> change{};
    std::string out;             // folder or .png; text: file or empty
    std::string recipe;          // file of interventions on the model (jobs/recipe.h); "" = none
    RankGroup* ranks = nullptr;  // processes that share the samples; none: alone. Outlives the job.
};

struct CompletedSample {
    // Of the filled tokens, at temperature 1 and untruncated.
    double log_likelihood_nats = 0;
    double bits_per_filled = 0;       // per filled token
    std::string file;                 // its picture; "" = a text
    std::optional<std::string> text;  // prompt and all; UTF-8, what is not is U+FFFD
};
struct CompleteResult {
    std::string model;     // as asked for
    int64_t step = 0;      // of the weights
    SampleOptions sample;  // as asked for
    std::string note;      // what became of the input; "" = nothing to say
    int64_t tokens = 0, filled = 0;
    double seconds = 0;
    std::vector<CompletedSample> samples;
    // Pictures: what the filled part really was, by the same measure as the samples.
    std::optional<double> original_log_likelihood_nats;
    // Reduced weights: what they cost on the original, or on the first text.
    std::optional<double> weights_cost_bits_per_dim;
    std::optional<int64_t> changed;  // with a changed value: how many differ then in its sample
    std::string grid;  // picture of input and samples, in the folder asked for; "" = none
    std::string file;  // of the texts; "" = none
};
// Several examples of the data, each completed as it would be alone.
struct CompletedExample {
    int64_t index = 0;
    std::string error;      // it could not be read: it is left out
    CompleteResult result;  // its files in a folder of its own, picture-INDEX
};
struct CompleteBatchResult {
    std::vector<CompletedExample> pictures;
    std::string grid;  // all of them beside each other: masked, then the completions
};

// A picture of the model's size as a mask, [height, width]: 1 where it is not black. Errors name
// the file, what was found and what is needed.
[[nodiscard]] std::vector<uint8_t> read_mask(const std::string& path, const ModelConfig& model);

// Writes what `out` asks for: pictures or texts. With ranks every process calls it for the same
// request; the samples are those of one process, and the leader alone writes and answers.
[[nodiscard]] CompleteResult complete_job(const CompleteRequest& request,
                                          const JobControl& control);
// Of pictures; `out` is a folder. Error where none of them can be read: the first one's.
[[nodiscard]] CompleteBatchResult complete_batch_job(const CompleteRequest& request,
                                                     const std::vector<int64_t>& indices,
                                                     const JobControl& control);

}  // namespace aft
