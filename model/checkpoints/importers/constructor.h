// What the names of others do not hold of a model: the arguments of their constructor that say it,
// and the same beside the tensors that export writes, so that import has it again. Any thread; no
// state.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "model/checkpoints/format.h"
#include "model/checkpoints/importers/mapping.h"
#include "model/config.h"

namespace aft::imports {

using Assignments = std::vector<std::pair<std::string, std::string>>;

// The free settings of a mapping as this model has them. Error that names the first one whose value
// no argument gives.
[[nodiscard]] Assignments free_settings(const Mapping& mapping, Config config);
// "NAME(num_heads=3, ...)", and remarks behind it; "" where the mapping has no constructor.
[[nodiscard]] std::string constructor_words(const Mapping& mapping, Config config);

// Into the metadata of a file, and out of it: `given` wins over what stands there. Error that names
// the file on anything else than settings of a model.
void store_settings(TensorFile& file, const Assignments& settings);
[[nodiscard]] Assignments with_stored(const TensorFile& file, const std::string& path,
                                      Assignments given);

}  // namespace aft::imports
