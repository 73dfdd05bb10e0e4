// What Play says of a value and its place, and of what a change has done. Window thread.
#pragma once
#include <string>

#include "app/state/ui.h"

namespace aft::app {

// Of a text model: what its token stands for.
[[nodiscard]] uint8_t level_byte(const ModelView& ui, int64_t level);
[[nodiscard]] std::string axis_words(const ModelView& ui, int64_t level);  // "17", "a", "C3"
[[nodiscard]] std::string level_words(const ModelView& ui, int64_t level);
[[nodiscard]] std::string place_id(const ModelView& ui,
                                   int64_t position);  // "byte_12", "y_3_x_4_g"
[[nodiscard]] std::string place_words(const ModelView& ui, int64_t position);

// "1 of 128 values": those of a sample that differ from the completion before; "" where that one
// was of another picture or mask, or this one still fills in.
[[nodiscard]] std::string changed_words(const Completion* before, const Completion& now,
                                        size_t sample);

}  // namespace aft::app
