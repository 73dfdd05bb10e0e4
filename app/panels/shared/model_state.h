// The states of a pane before there is anything of a model to show. Window thread, inside a frame.
#pragma once
#include <string>

#include "app/widgets/states.h"

namespace aft::app {

// "No model open", or "Opening". True: nothing else to draw.
[[nodiscard]] bool no_model_state(Ui& ui, Drawing drawing, const std::string& sentence);
// A mixer alone takes vectors: says why there is no picture or text, and where its biases are.
// True: nothing else to draw.
[[nodiscard]] bool mixer_alone_state(Ui& ui, Drawing drawing);
// The picture cannot be had: a banner that says why and what to do. False: nothing is wrong.
bool picture_problem(Ui& ui);

}  // namespace aft::app
