// The tooltip of the last item. Window thread, inside a frame.
#pragma once
#include <string>

#include "app/state/draw_context.h"

namespace aft::app {

struct Tip {
    std::string name{}, key{}, formula{}, sentence{};
};
void tooltip(DrawContext& ui, const Tip& tip);  // for the last item, after 0.4 s

}  // namespace aft::app
