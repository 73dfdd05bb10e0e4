// What a mapping file of the user's may have meant: rules that meet nothing, biases that look
// stored the other way around, the nearest name. Called by convert() and the import. Any thread; no
// state.
#pragma once
#include <string>
#include <vector>

#include "model/checkpoints/importers/convert.h"

namespace aft::imports {

// "the rule of 'net.never' met no tensor"
void add_unmet(const Recognised& found, std::vector<std::string>& notes);
// Of a causal model: position biases that say something only where no target looks.
void add_unseen(const Converted& made, std::vector<std::string>& notes);
// Of a name that the model does not have: a parameter without a value whose shape fits, else the
// nearest of `names`; "" = none is near.
[[nodiscard]] std::string nearest_target(const Left& strange, const std::vector<Left>& missing,
                                         const std::vector<std::string>& names);

}  // namespace aft::imports
