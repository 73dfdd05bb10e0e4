// EvalParts: what the batches of an evaluation add up to. With ranks each process measures every
// n-th batch, and all of them get the sums of all, in the order of one process: the same bits. For
// the eval job; its thread.
#pragma once
#include <cstdint>
#include <vector>

#include "model/jobs/eval_examples.h"

namespace aft {

class RankGroup;

// Sums over what was measured. metric: of its mean over the examples.
struct EvalTotals {
    double nats = 0, metric = 0;
    int64_t tokens = 0, examples = 0;
};

class EvalParts {
  public:
    explicit EvalParts(RankGroup* ranks) : ranks_(ranks) {}
    // This process measures that batch, counted from 0.
    [[nodiscard]] bool is_mine(int64_t batch) const;
    // Of a batch (or a piece of one), in the order of their measuring.
    void add(int64_t batch, const EvalTotals& totals);
    // Collective: the sums, and into `scores` the examples of the others. Error that names a rank
    // that is lost.
    [[nodiscard]] EvalTotals all(ExampleScores& scores);

  private:
    struct BatchTotals {
        int64_t batch = 0;
        EvalTotals totals{};
    };
    void share(ExampleScores& scores);
    RankGroup* ranks_;
    std::vector<BatchTotals> parts_;
};

}  // namespace aft
