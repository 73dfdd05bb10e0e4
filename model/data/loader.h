// Loader: batches in a fixed order, prepared by threads that only the trainer talks to.
// The batch of step n is a function of (seed, n) alone: shuffling, augmentation and threads never
// change it.
#pragma once
#include <ATen/core/Tensor.h>

#include <memory>

#include "model/config.h"
#include "model/data/chosen.h"
#include "model/data/source.h"

namespace aft {

struct Batch {
    // image, text: int64 [B, T] tokens; classify: float [B, C, H, W], levels/(L-1) normalised as
    // model.input_norm says
    at::Tensor input{};
    at::Tensor target{};  // image, text: = input; classify: int64 [B] labels
    // Of mixed pictures: float [B, classes], rows sum to 1; `target` is the larger share's label.
    at::Tensor soft_target{};
    // Of load_batch: the examples that were read, by their index in the part.
    std::vector<int64_t> indices{};
};

struct LoaderOptions {
    ModelConfig model;
    DataConfig data;
    int64_t batch = 16;
    uint64_t seed = 1;
    int64_t first = 0, count = 0;  // the part of each batch that is made; count 0 = all of it
};

class Loader {
  public:
    Loader(std::shared_ptr<const DataSource> source, const LoaderOptions& options);
    ~Loader();
    // Blocks until the batch of this step is ready; steps are usually consecutive (prefetch), any
    // order works. An exception in a loader thread is rethrown here.
    [[nodiscard]] Batch next(int64_t step);

  private:
    struct Threads;
    std::unique_ptr<Threads> threads_;
};

[[nodiscard]] Batch slice(const Batch& batch, int64_t first, int64_t count);  // views

// Examples [first, first + count) of a split, no augmentation; without those that cannot be read
// (nothing at all: undefined tensors). Any thread.
struct ExampleRange {
    Split split = Split::train;
    int64_t first = 0, count = 1;
};
[[nodiscard]] Batch load_batch(const DataSource& source, const ModelConfig& model,
                               const ExampleRange& slice);
// The places [first, first + count) of the chosen examples.
struct ChosenRange {
    ChosenExamples chosen{};
    Split split = Split::train;
    int64_t first = 0, count = 1;
};
[[nodiscard]] Batch load_batch(const DataSource& source, const ModelConfig& model,
                               const ChosenRange& slice);
// A model that no data fit, a mixer alone or biases alone: usage Error with what works on it.
void check_has_task(const ModelConfig& model);
// A source whose shape does not fit the model: usage Error with both shapes. With ignores_labels
// its classes do not count.
void check_fit(const DataSource& source, const ModelConfig& model, bool ignores_labels = false);
// Bytes of a text window; 0: a model for pictures.
[[nodiscard]] int64_t text_length(const ModelConfig& model);
// What a model knows of the data it was trained on.
struct KnownData {
    std::vector<uint8_t> alphabet{};         // byte of each token; empty = all 256
    std::vector<std::string> class_names{};  // empty: not known, and not compared
    bool classes_by_name = false;            // else the data's must be the same in the same order
    bool ignores_labels = false;             // inputs alone are read: any classes, also none
};
// The SPEC with the options size, levels, gray and alphabet that it leaves out and the source has,
// as the model needs them. alphabet: byte of each token; empty = all 256.
[[nodiscard]] Spec spec_for_model(const Spec& given, const ModelConfig& model,
                                  const std::vector<uint8_t>& alphabet);
// Opens a SPEC for a model that exists: the options size, levels, gray, length and alphabet that it
// leaves out are the model's, and labels those of its classes. Then check_fit.
[[nodiscard]] std::unique_ptr<DataSource> open_for_model(const Spec& spec, uint64_t seed,
                                                         const ModelConfig& model,
                                                         const KnownData& known);
// The part that is looked at when none is named: test, or else validation, or else train, the first
// that has examples.
[[nodiscard]] Split usual_split(const DataSource& source);
// Of a text whose part holds no window of `length` (0 = the source's own), what it has and needs,
// to stand behind its name: "has 27 bytes; the model needs at least 285, ..."; "" = of pictures.
[[nodiscard]] std::string why_too_short(const DataSource& source, Split split, int64_t length = 0);
// The part that the SPEC names, else the usual one.
[[nodiscard]] Split split_of(const Spec& spec, const DataSource& source);
// The part that an evaluation measures: the one that the SPEC names, else as above; but a text that
// is shorter than an example can be measured too.
[[nodiscard]] Split measured_split(const Spec& spec, const DataSource& source);
// Fills height, width, channels, levels, classes of a model config from the source.
void fit_model(ModelConfig& model, const DataSource& source);

}  // namespace aft
