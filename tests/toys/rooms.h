// Rooms that only the tests have: a mixer with a bias of a new shape, a task with a metric of its
// own. Before anything else is called; a second call adds none. No LibTorch.
#pragma once

namespace aft {

void add_toy_rooms();

}  // namespace aft
