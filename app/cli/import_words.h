// What an import did, as lines for people. Pure; any thread.
#pragma once
#include <string>
#include <vector>

#include "model/jobs/import.h"

namespace aft::app {

// Lines that differ in the number of the layer alone are one, "blocks.{0..11}.norm1.weight"; with
// `every_tensor` each tensor has its own.
[[nodiscard]] std::string import_words(const ImportResult& result, bool every_tensor);
// Names with their shapes and reasons below a title, folded likewise: "dropped:", a line each.
[[nodiscard]] std::string reason_words(const std::string& title,
                                       const std::vector<NamedReason>& rows, bool every_tensor);

}  // namespace aft::app
