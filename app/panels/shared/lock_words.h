// Words of captions and hover lines: the step, and what the hover line of a map says of the lock:
// "Hover reads, click locks", or how to unlock. Window thread.
#pragma once
#include <string>
#include <string_view>

#include "app/state/ui.h"

namespace aft::app {

// "-1 to 8.56e+08": as it is recorded
[[nodiscard]] std::string step_words(const ViewState& ui, const FieldSetPtr& fields);
[[nodiscard]] std::string lock_words(const ViewState& ui, std::string_view hover_words);

}  // namespace aft::app
