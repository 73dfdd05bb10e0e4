// What a run may be called: its name is a part of a path, of runs/NAME-N, and comes from configs
// and checkpoints of others. Any thread, no state.
#pragma once
#include <string>

namespace aft {

[[nodiscard]] std::string name_problem(const std::string& name);  // "" = it may be called so

}  // namespace aft
