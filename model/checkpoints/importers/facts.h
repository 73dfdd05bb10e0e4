// What the tensors of a file say to the expressions of a mapping. Called by convert(). Any thread;
// no state.
#pragma once
#include <string>

#include "model/checkpoints/importers/expression.h"
#include "model/checkpoints/importers/recognise.h"

namespace aft::imports {

[[nodiscard]] std::string shape_text(const at::Tensor& tensor);  // "[4, 3]"
// Error where the file has none of this name.
[[nodiscard]] const at::Tensor& tensor_of(const View& view, const std::string& name);
// The sizes of the mapping, with the file's facts. `found` outlives it.
[[nodiscard]] SizeTable numbers_of(const Recognised& found);

}  // namespace aft::imports
