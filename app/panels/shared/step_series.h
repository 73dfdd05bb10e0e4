// StepSeries: one probe at every stored step, asked for one after the other, so that training and
// other panes continue. Window thread; returns at once.
#pragma once
#include <map>
#include <set>
#include <string>

#include "app/state/ui.h"

namespace aft::app {

class StepSeries {
  public:
    // True when there is another answer than before. What is asked for is a request for any step;
    // another one, another model, or a rewind (after which a step may come a second time) begins
    // anew.
    bool update(PaneContext& ui, ProbeRequest request);
    // Nothing more is asked for while it is paused; what has been read stays.
    void pause(bool is_paused) { is_paused_ = is_paused; }
    [[nodiscard]] bool is_paused() const { return is_paused_; }
    // Step -> answer, of the steps that are stored now.
    [[nodiscard]] const std::map<int64_t, FieldSetPtr>& fields() const { return fields_; }
    [[nodiscard]] size_t missing() const { return missing_; }
    // Of the last step that could not be read: its weights are not stored, only its biases.
    [[nodiscard]] const std::string& error() const { return error_; }

  private:
    std::map<int64_t, FieldSetPtr> fields_;
    std::set<int64_t> failed_;
    ProbeRequest request_;
    uint64_t opened_ = 0;
    int64_t rewinds_ = 0;
    std::string error_;
    size_t missing_ = 0;
    bool is_paused_ = false;
};

}  // namespace aft::app
