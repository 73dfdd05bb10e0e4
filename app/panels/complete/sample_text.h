// The text of a sample, one character a byte, each of which can be clicked. Window thread, inside a
// frame.
#pragma once
#include <cstdint>
#include <span>
#include <string>

#include "app/state/draw_context.h"

namespace aft::app {

struct SampleTextView {
    std::span<const uint8_t> bytes{};  // the decided ones
    int64_t prompt = 0;                // so many of them were given; a line stands behind these
    int64_t chosen = -1;               // ringed; -1 = none
    std::span<const ImU32> grounds{};  // a colour behind each byte, 0 = none; or empty
    std::string words{};               // recorded
};
struct SampleTextReply {  // bytes; -1 = none
    int64_t hovered = -1, clicked = -1;
};
[[nodiscard]] SampleTextReply draw_sample_text(DrawContext& ui, const WidgetName& name,
                                               const SampleTextView& view);

}  // namespace aft::app
