// What the layers of a model are called: by their number, and in maps alone also as their file
// calls them. Pure; any thread.
#pragma once
#include <cstdint>
#include <string>

#include "model/session.h"

namespace aft::app {

[[nodiscard]] bool has_layer_names(const Status& status);
// "3", and in maps alone what its file calls it, without what all names begin and end with and cut
// in the middle where it is long: "3, decoder block".
[[nodiscard]] std::string layer_words(const Status& status, int64_t layer);
// The same with the whole name, for tooltips and files.
[[nodiscard]] std::string full_layer_words(const Status& status, int64_t layer);

}  // namespace aft::app
