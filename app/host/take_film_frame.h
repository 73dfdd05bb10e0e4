// Frames of a film of the panes in the middle. Window thread.
#pragma once
#include "app/host/take_picture.h"

namespace aft::app {

// After a frame is on the screen: takes the film's frame that is due of it. Costs
// what reading the window does.
void take_film_frame(Ui& ui, const FrameReader& source);

}  // namespace aft::app
