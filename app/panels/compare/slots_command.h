// `afterimage compare ...` for what Compare shows. Pure; window thread.
#pragma once
#include "app/panels/compare/compare_shown.h"
#include "app/panels/shared/copy_command.h"

namespace aft::app {

[[nodiscard]] CopiedCommand slots_command(const ViewState& ui, const CompareSlots& slots,
                                          const ShownMaps& shown);

}  // namespace aft::app
