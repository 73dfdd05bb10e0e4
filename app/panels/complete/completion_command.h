// `afterimage complete ...` for what Complete is set to. Pure; window thread.
#pragma once
#include "app/panels/shared/copy_command.h"

namespace aft::app {

[[nodiscard]] CopiedCommand completion_command(const ViewState& ui);

}  // namespace aft::app
