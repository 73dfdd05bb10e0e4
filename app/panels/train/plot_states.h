// What stands in the place of the curves, or above them: no run, nothing trained yet, an error.
// Window thread, inside a frame.
#pragma once
#include <string>

#include "app/state/standing_events.h"
#include "app/state/ui.h"

namespace aft::app {

// "train.learning_rate = 1e-3" -> "learning rate 1e-3"
[[nodiscard]] std::string event_words(std::string text);
// So many letters of it, "..." where it is cut: beside a line.
[[nodiscard]] std::string short_words(const std::string& text, size_t most);
// Of the open run; else, or without two logged steps, what to do next. True: there are no curves.
// `standing`: the events of its log.
bool draw_no_curves(Ui& ui, StandingEvents& standing);

}  // namespace aft::app
