// How far a completion or a batch of them is: words and a bar in the tools of Samples. Window
// thread, inside a frame.
#pragma once
#include <string>

#include "app/state/ui.h"

namespace aft::app {

struct CompletionProgress {
    size_t decided = 0, total = 0;  // sub-pixels or bytes of one sample
    std::string count;              // "12 of 128", "3 of 8"
    bool is_done = false, is_stopped = false;
    double seconds = 0;
    std::string what;  // that is counted: "sub-pixels", "pictures"
};
[[nodiscard]] CompletionProgress progress_of(const ViewState& ui, const Completion& completion);
[[nodiscard]] CompletionProgress progress_of(const CompletionBatch& batch);
void draw_progress(PaneContext& ui, const CompletionProgress& progress);

}  // namespace aft::app
