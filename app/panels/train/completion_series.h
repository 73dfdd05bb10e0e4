// CompletionSeries: one sample at every saved step under the same random numbers, one step after
// the other. Waits for completions of others, and leaves the trainer its share of the time. Window
// thread; returns at once.
#pragma once
#include <map>
#include <memory>
#include <set>
#include <string>

#include "app/panels/train/series_source.h"
#include "app/state/experiments.h"
#include "app/state/ui.h"

namespace aft::app {

class CompletionSeries {
  public:
    // Once a frame. Another experiment, another model, other data, or a rewind (after which a step
    // may come a second time) begins anew. Asks only with `may_ask`: the session draws one at a
    // time. True: nothing is missing, or nothing can be had.
    bool update(PaneContext& ui, const WatchedCompletion& watched, bool may_ask);
    // Finished ones, of the steps that are saved now.
    [[nodiscard]] const std::map<int64_t, std::shared_ptr<const Completion>>& completions() const {
        return completions_;
    }
    // What is completed, with 1 in `unknown` where it is filled in; empty while it is being read.
    [[nodiscard]] const CompletionRequest& request() const { return request_; }
    [[nodiscard]] size_t missing() const { return missing_; }
    // Why the source cannot be had, or of the last step that could not be completed; "" = neither.
    [[nodiscard]] const std::string& error() const { return error_; }

  private:
    [[nodiscard]] bool is_of(const PaneContext& ui, const WatchedCompletion& watched) const;
    void read_source(const PaneContext& ui);
    void take(const PaneContext& ui);
    void ask(PaneContext& ui, int64_t step);

    WatchedCompletion watched_;
    CompletionRequest request_;
    std::map<int64_t, std::shared_ptr<const Completion>> completions_;
    std::set<int64_t> failed_;
    std::string error_;
    SeriesSource source_;
    int64_t asked_ = -1;  // step of the running one; -1 = none
    double next_at_ = 0;
    size_t missing_ = 0;
};

}  // namespace aft::app
