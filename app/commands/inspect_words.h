// What `afterimage inspect` prints for people: a summary, the biases and all tensors as tables, the
// settings. Pure.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace aft::app {

// result: of inspect_job or inspect_preset.
[[nodiscard]] std::string inspect_words(const nlohmann::json& result);

}  // namespace aft::app
