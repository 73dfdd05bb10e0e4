// Patterns of tensor names: text with placeholders. "{i}" stands for a whole number (of a layer),
// "{anything else}" for a piece without a dot. No LibTorch. Any thread, no state; time in
// proportion to the text.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace aft::imports {

using Bindings = std::map<std::string, std::string>;  // placeholder -> what it stands for

// What the placeholders stand for where `name` is of this pattern. A placeholder that is there
// twice stands for the same both times.
[[nodiscard]] std::optional<Bindings> match(std::string_view pattern, std::string_view name);
// The pattern with its placeholders filled in. Error on one that is not bound.
[[nodiscard]] std::string fill_in(std::string_view pattern, const Bindings& bindings);

}  // namespace aft::imports
