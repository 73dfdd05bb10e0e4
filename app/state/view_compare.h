// What Compare holds, as a part of a view file. Any thread.
#pragma once
#include <nlohmann/json_fwd.hpp>

#include "app/state/compare_choice.h"

namespace aft::app {

// Paths as they are: those of a file are absolute.
[[nodiscard]] nlohmann::json compare_to_json(const CompareChoice& compare);
// What is not there stays as it is. Error that names the key.
void take_compare(const nlohmann::json& of, CompareChoice& compare);

}  // namespace aft::app
