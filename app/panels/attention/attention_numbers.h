// The numbers beside an attention map: how much of it the position bias explains alone, how far and
// how sharply the target looks. Window thread; draws into the Inspector.
#pragma once
#include "app/panels/attention/attention_data.h"

namespace aft::app {

inline constexpr const char* kAwaited = "\u2013";  // stands for a number until it is read

struct PriorOrContent {
    const AttentionData& data;
    const Positions& positions;
    int64_t layer = 0, target = 0;
};
// What the small map of a channel, or of a head, says under it, whatever they are sorted by.
void draw_channel_numbers(PaneContext& ui, const AttentionData& data, int64_t channel);
// One bar a layer, the part that position gives; a click on it chooses the layer.
void draw_layer_shares(PaneContext& ui, const AttentionData& data);
void draw_prior_or_content(PaneContext& ui, const PriorOrContent& shown);

// The part of one row of shares that another one has too, sum of the smaller ones, in [0, 1].
[[nodiscard]] double overlap(std::span<const float> row, std::span<const float> other);

}  // namespace aft::app
