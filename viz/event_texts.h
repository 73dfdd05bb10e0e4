// Where the words of a plot's events stand: beside their lines, in the first row of the plot in
// which they lie on no others. Pure; any thread.
#pragma once
#include <vector>

namespace aft::viz {

struct EventText {
    float low = 0, high = 0;  // pixels that it takes from left to right
    int row = 0;              // set by place_event_texts; -1 = there is no space
};
// Of many events only the first row is used, so that they leave the curves in view.
void place_event_texts(std::vector<EventText>& texts);

}  // namespace aft::viz
