// Mutations of the loader: which examples a batch holds, across epochs, seeds and a resume.
#include <ATen/ATen.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <set>

#include "core/rng.h"
#include "model/data/batch.h"
#include "tests/mutants.h"

namespace aft {
namespace {

constexpr int64_t kCount = 25, kBatch = 10;  // an epoch ends within a batch

// Example i holds its own number.
class Numbered : public DataSource {
  public:
    Numbered() {
        info_.height = info_.width = 2;
        info_.channels = 1;
    }
    [[nodiscard]] const DataInfo& info() const override { return info_; }
    [[nodiscard]] int64_t size(Split) const override { return kCount; }
    [[nodiscard]] Example example(Split, int64_t index) const override {
        return {{static_cast<uint8_t>(index), 1, 2, 3}, -1};
    }

  private:
    DataInfo info_;
};

struct LoaderMistakes {
    int64_t shift_after_resume = 0;  // batches
    bool same_epochs = false, no_seed = false, in_order = false, drops_rest = false;
    bool with_replacement = false, other_targets = false, counts_calls = false;
};

// A loader of one seed: step -> batch.
using Batches = std::function<Batch(int64_t)>;
using LoaderMaker = std::function<Batches(uint64_t seed)>;

LoaderOptions loader_options(const DataSource& source, uint64_t seed) {
    LoaderOptions options;
    options.model.own["patch"] = 1;
    fit_model(options.model, source);
    options.batch = kBatch;
    options.seed = seed;
    return options;
}

class DefinedLoader {
  public:
    DefinedLoader(uint64_t seed, LoaderMistakes wrong)
        : wrong_(wrong), options_(loader_options(source_, wrong.no_seed ? 1 : seed)) {}
    Batch next(int64_t step) {
        if (calls_++ == 0 && step > 0) step += wrong_.shift_after_resume;
        if (wrong_.counts_calls) step = calls_ - 1;
        std::vector<at::Tensor> inputs;
        for (int64_t i = 0; i < kBatch; ++i) {
            const ExampleRange range{Split::train, index_of(step * kBatch + i), 1};
            inputs.push_back(load_batch(source_, options_.model, range).input);
        }
        const at::Tensor input = at::cat(inputs);
        return {input, wrong_.other_targets ? input.roll(1, 0) : input};
    }

  private:
    [[nodiscard]] int64_t index_of(int64_t number) const {
        const int64_t epoch_length = wrong_.drops_rest ? kCount / kBatch * kBatch : kCount;
        const int64_t epoch = number / epoch_length, place = number % epoch_length;
        if (wrong_.in_order) return place;
        if (wrong_.with_replacement)
            return CounterRng(options_.seed, uint64_t(number)).below(kCount);
        return permuted(options_.seed, wrong_.same_epochs ? 0 : uint64_t(epoch), kCount, place);
    }

    Numbered source_;
    LoaderMistakes wrong_;
    LoaderOptions options_;
    int64_t calls_ = 0;
};

LoaderMaker defined_loader(const LoaderMistakes& wrong) {
    return [wrong](uint64_t seed) {
        const auto loader = std::make_shared<DefinedLoader>(seed, wrong);
        return Batches([loader](int64_t step) { return loader->next(step); });
    };
}

LoaderMaker real_loader(int64_t threads) {
    return [threads](uint64_t seed) {
        const auto source = std::make_shared<Numbered>();
        LoaderOptions options = loader_options(*source, seed);
        options.data.threads = threads;
        const auto loader = std::make_shared<Loader>(source, options);
        return Batches([loader](int64_t step) { return loader->next(step); });
    };
}

std::string what_is_wrong_with_batches(const LoaderMaker& make) {
    constexpr int64_t kSteps = 5;  // two epochs
    const Batches loader = make(7), other = make(8);
    std::vector<int64_t> numbers, others;
    std::vector<at::Tensor> inputs;
    for (int64_t step = 0; step < kSteps; ++step) {
        const Batch batch = loader(step), beside = other(step);
        if (!batch.input.equal(batch.target)) return "the target is another picture";
        inputs.push_back(batch.input);
        for (int64_t i = 0; i < kBatch; ++i) {
            numbers.push_back(batch.input[i][0].item<int64_t>());
            others.push_back(beside.input[i][0].item<int64_t>());
        }
    }
    const std::vector<int64_t> first(numbers.begin(), numbers.begin() + kCount),
        second(numbers.begin() + kCount, numbers.end());
    for (const auto& epoch : {first, second})
        if (std::set<int64_t>(epoch.begin(), epoch.end()).size() != kCount)
            return "an epoch does not hold every example once";
    if (first == second) return "two epochs have one order";
    if (std::is_sorted(first.begin(), first.end())) return "the order is the source's";
    if (numbers == others) return "two seeds have one order";
    const Batches resumed = make(7);
    for (int64_t step = 2; step < kSteps; ++step)
        if (!resumed(step).input.equal(inputs[size_t(step)])) return "a resumed run sees others";
    return loader(1).input.equal(inputs[1]) ? "" : "a step has another batch when asked again";
}

TEST(Mutants, LoaderMistakesAreNoticed) {
    const auto with = [](const std::string& name, const LoaderMistakes& wrong) {
        return Mutant<LoaderMaker>{name, defined_loader(wrong)};
    };
    EXPECT_EQ(what_is_wrong_with_batches(defined_loader({})), "");
    EXPECT_EQ(what_is_wrong_with_batches(real_loader(2)), "");
    expect_noticed(
        what_is_wrong_with_batches, real_loader(0),
        {with("repeats a batch after a resume", {.shift_after_resume = -1}),
         with("leaves out a batch after a resume", {.shift_after_resume = 1}),
         with("every epoch in one order", {.same_epochs = true}),
         with("the seed is ignored", {.no_seed = true}), with("not shuffled", {.in_order = true}),
         with("leaves out the end of an epoch", {.drops_rest = true}),
         with("draws with replacement", {.with_replacement = true}),
         with("targets of the neighbour", {.other_targets = true}),
         with("counts calls, not steps", {.counts_calls = true})});
}

}  // namespace
}  // namespace aft
