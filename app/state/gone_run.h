// Whether the folder of the open run is gone, so that nothing can be done in it. Any thread.
#pragma once
#include "app/state/ui.h"

namespace aft::app {

// Looked up on the disk only after an error: folders seldom vanish, and one that is put back counts
// at once.
[[nodiscard]] bool is_run_gone(const ModelView& ui);

}  // namespace aft::app
