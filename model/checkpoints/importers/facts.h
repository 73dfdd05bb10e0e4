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
// The sizes of the mapping and the numbers of its settings, with the file's facts. `found` outlives
// it.
[[nodiscard]] SizeTable numbers_of(const Recognised& found);
// A setting of the model as a size, where no other has its name: "model.window" 8 is `window`.
void add_setting(SizeTable& numbers, const std::string& key, const std::string& value);

}  // namespace aft::imports
