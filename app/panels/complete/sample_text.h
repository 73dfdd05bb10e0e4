// The text of a sample, one character a byte, each of which can be clicked. Window thread, inside a
// frame.
#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "app/state/draw_context.h"

namespace aft::app {

struct SampleTextView {
    std::span<const uint8_t> bytes{};  // the decided ones
    int64_t prompt = 0;                // so many of them were given; a line stands behind these
    int64_t chosen = -1;               // ringed; -1 = none
    // The colour behind a byte, 0 = none; asked for what is in view alone. Unset = none at all.
    std::function<ImU32(size_t)> ground{};
    std::string words{};  // recorded
};
struct SampleTextReply {  // bytes; -1 = none
    int64_t hovered = -1, clicked = -1;
};
[[nodiscard]] SampleTextReply draw_sample_text(DrawContext& ui, const WidgetName& name,
                                               const SampleTextView& view);

}  // namespace aft::app
