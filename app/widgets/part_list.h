// Part list: names by commas in a text, switched on and off in a list beside its field.
// Conventions: buttons.h. Window thread, inside a frame.
#pragma once
#include <optional>
#include <span>
#include <string>

#include "app/state/draw_context.h"

namespace aft::app {

inline constexpr float kPartListWidth = 26;  // of its button, at scale 1

struct PartList {
    WidgetName name;
    std::span<const std::string> parts;  // what can be named
    std::string why_not{}, tip{};
};
// An icon button that opens the list. The new text, empty optional if unchanged; names that the
// list does not have stay.
std::optional<std::string> part_list(DrawContext& ui, const PartList& spec,
                                     const std::string& text);

}  // namespace aft::app
