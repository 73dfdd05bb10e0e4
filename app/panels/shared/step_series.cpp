#include "app/panels/shared/step_series.h"

#include <algorithm>
#include <utility>

namespace aft::app {

bool StepSeries::update(PaneContext& ui, ProbeRequest request) {
    request.step = -1;
    const size_t before = fields_.size();
    if (opened_ != ui.opened || request != request_ || rewinds_ != ui.status.rewinds) {
        *this = StepSeries();
        opened_ = ui.opened;
        rewinds_ = ui.status.rewinds;
        request_ = request;
    }
    if (ui.session == nullptr) return before != 0;
    // Steps that the thinning took away.
    std::erase_if(fields_, [&](const auto& one) {
        return !std::binary_search(ui.history.begin(), ui.history.end(), one.first);
    });
    bool is_new = fields_.size() != before;
    missing_ = 0;
    bool is_waiting = is_paused_;
    for (const int64_t step : ui.history) {
        if (fields_.contains(step) || failed_.contains(step)) continue;
        ++missing_;
        if (is_waiting) continue;  // one at a time
        request.step = step;
        std::string error;
        FieldSetPtr answer = ui.session->probes().ask(request, false, &error);
        is_waiting = answer == nullptr && error.empty();
        if (is_waiting) continue;
        --missing_;
        if (answer == nullptr) {
            error_ = error;
            failed_.insert(step);
            continue;
        }
        fields_[step] = std::move(answer);
        is_new = true;
    }
    return is_new;
}

}  // namespace aft::app
