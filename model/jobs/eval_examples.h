// What an evaluation gathers example by example: for standard errors, classes and the file of
// examples. For the eval job; its thread.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "model/jobs/eval.h"

namespace aft {

struct Batch;
struct DataInfo;
struct TaskResult;
struct TaskRoom;

struct ExampleScore {
    int64_t index = 0;                // in the part; of a text the window
    double nats = 0;                  // sum over its tokens
    int64_t tokens = 0;               // that were measured
    int64_t label = -1, answer = -1;  // of tasks with classes
    bool among_five = false;
};

class ExampleScores {
  public:
    explicit ExampleScores(const TaskRoom& task) : task_(task) {}
    // Of a batch; nothing where the task tells no logits. Cost: one pass over the logits.
    void add(const TaskResult& result, const Batch& batch);
    void add(int64_t index, double nats, int64_t tokens) {
        scores_.push_back({.index = index, .nats = nats, .tokens = tokens});
    }

    [[nodiscard]] const std::vector<ExampleScore>& all() const { return scores_; }
    void set(std::vector<ExampleScore> scores) { scores_ = std::move(scores); }
    // Standard error of the metric's mean over the examples; none for fewer than two.
    [[nodiscard]] std::optional<double> metric_error() const;
    [[nodiscard]] std::vector<double> metrics() const;  // of each example
    [[nodiscard]] std::optional<EvalClasses> classes(const DataInfo& info, int64_t count) const;
    // A header and a line for each example: index, nats, tokens, metric, and for classes label,
    // answer. Atomic.
    void write_csv(const std::string& path) const;

  private:
    [[nodiscard]] double metric_of(const ExampleScore& score) const;
    const TaskRoom& task_;
    std::vector<ExampleScore> scores_;
};

}  // namespace aft
