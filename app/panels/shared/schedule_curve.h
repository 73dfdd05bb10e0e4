// The learning rate that is coming, as a small curve with its numbers: of New run and Controls.
// Window thread, inside a frame.
#pragma once
#include <cstdint>

#include "app/state/draw_context.h"
#include "model/status.h"

namespace aft::app {

// Of the steps after `from`, up to `until`; nothing where no step is coming.
void draw_schedule(DrawContext& ui, const TrainConfig& train, int64_t from, int64_t until);

}  // namespace aft::app
