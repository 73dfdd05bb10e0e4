// BatchLosses: the loss of a batch of the data at one step, without and with interventions, example
// by example. Asks the session for one portion after the other, so that probes of other panes are
// never held up for long. What has been measured is kept while the weights and the batch stay.
// Window thread; returns at once.
#pragma once
#include <cstdint>
#include <list>
#include <optional>
#include <string>
#include <vector>

#include "app/state/ui.h"

namespace aft::app {

// The loss of every example under one recipe, in the order of the batch.
struct RecipeLosses {
    Recipe recipe;
    std::vector<double> nats;
    std::vector<double> right;  // of tasks with classes: 1 = the answer is the label
    std::string error{};        // why it cannot be measured
    double seconds = 0;         // from the question to the last answer
};

// Which weights are measured.
struct MeasuredStep {
    int64_t asked = -2;    // of requests; -1 = the newest weights
    int64_t weights = -1;  // the step that these are of: other weights are another measure
    [[nodiscard]] bool operator==(const MeasuredStep&) const = default;
};

// Which examples are measured, and with which weights.
struct LossBatch {
    std::string path{}, data{}, split{};  // of the model; its data; part of these, empty: the usual
    MeasuredStep step{};
    int64_t first = 0, examples = 0;
    [[nodiscard]] bool operator==(const LossBatch&) const = default;
};

class BatchLosses {
  public:
    // Once a frame: takes what has come and asks for what is missing, in the order of `wanted`.
    void update(PaneContext& ui, const LossBatch& batch, const std::vector<Recipe>& wanted);
    // Null: nothing of it yet.
    [[nodiscard]] const RecipeLosses* of(const Recipe& recipe) const;
    [[nodiscard]] const std::vector<std::shared_ptr<const DataItem>>& items() const {
        return items_;
    }
    // Examples of the part, of which a batch has at most all; 0 = not known yet.
    [[nodiscard]] int64_t part_size() const {
        return items_.empty() ? 0 : items_.front()->part_size;
    }
    [[nodiscard]] const std::string& item_error() const { return item_error_; }
    [[nodiscard]] int64_t step() const { return step_; }  // of the weights; -1 = none yet
    // Something of it is on its way.
    [[nodiscard]] bool is_busy() const { return is_busy_; }
    // The mean change against the untouched model, over the examples that both have; in nats.
    [[nodiscard]] std::optional<PairedChange> change(const Recipe& recipe) const;

  private:
    void take_items(PaneContext& ui);
    [[nodiscard]] RecipeLosses& losses(const Recipe& recipe);
    // False: nothing more in this frame.
    [[nodiscard]] bool advance(PaneContext& ui, RecipeLosses& of, size_t target);
    [[nodiscard]] ProbeRequest portion(const PaneContext& ui, const RecipeLosses& of) const;

    LossBatch batch_;
    std::vector<std::shared_ptr<const DataItem>> items_;
    std::string item_error_;
    std::list<RecipeLosses> measured_;  // newest use first
    int64_t step_ = -1;
    double asked_at_ = -1;
    bool is_busy_ = false;
};

}  // namespace aft::app
