#include "app/frame/bars/pinned_events.h"

#include <algorithm>

#include "app/state/standing_events.h"
#include "model/model_files.h"

namespace aft::app {

const std::vector<Event>& PinnedEvents::of(const ModelView& ui) {
    const bool is_run = ui.session != nullptr && !is_checkpoint_file(ui.status.path);
    std::vector<int64_t> saved = is_run ? ui.session->saved_steps() : std::vector<int64_t>();
    if (curves_ == ui.curves && is_run_ == is_run && saved_ == saved) return events_;
    curves_ = ui.curves;
    is_run_ = is_run;
    saved_ = std::move(saved);
    events_ = standing_events(ui.curves->events);
    if (!is_run_) return events_;
    // Steps are saved that no event tells of, and thinned out again: the run's list counts.
    std::erase_if(events_, [](const Event& event) { return event.kind == "save"; });
    for (const int64_t step : saved_) events_.push_back({step, "save", ""});
    std::stable_sort(events_.begin(), events_.end(),
                     [](const Event& a, const Event& b) { return a.step < b.step; });
    return events_;
}

}  // namespace aft::app
