// `afterimage complete ...` for what Complete is set to, and the command of what Play shows. Window
// thread.
#pragma once
#include "app/panels/shared/copy_command.h"

namespace aft::app {

// A mask that no number of rows says is read from `mask`.
[[nodiscard]] CopiedCommand completion_command(const ViewState& ui, const std::string& mask);
// Its button. Such a mask is written beside the command, over no other file.
void completion_button(Ui& ui);
// The distribution at the position that is looked at. A picture is read from `file`: see below.
[[nodiscard]] CopiedCommand distribution_command(const ViewState& ui, const Completion& completion,
                                                 const std::string& file);
// Its button. A picture's sample is written beside the command, over no other file.
void distribution_button(Ui& ui, const Completion& completion, bool is_current);

}  // namespace aft::app
