#include "app/panels/attention/attention_numbers.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/widgets/buttons.h"
#include "app/widgets/text.h"
#include "app/widgets/tooltip.h"
#include "core/text.h"
#include "viz/curves.h"

namespace aft::app {

namespace {

// The share that position gives and the rest side by side, their words below them.
void split_bar(DrawContext& ui, double position) {
    const auto percent = static_cast<int>(std::lround(100 * position));
    const std::string left = fmt::format("position {} %", percent);
    const std::string right = fmt::format("content {} %", 100 - percent);
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float width = ImGui::GetContentRegionAvail().x, height = ui.px(14);
    float left_end = percent == 0 ? 0 : width, right_begin = left_end;
    if (percent > 0 && percent < 100) {  // both are seen, however small one is
        const float gap = ui.px(2), least = ui.px(2);
        const float shown = std::round(width * float(position)) - ui.px(1);
        left_end = std::max(least, std::min(shown, width - gap - least));
        right_begin = left_end + gap;
    }
    ImDrawList* const list = ImGui::GetWindowDrawList();
    list->AddRectFilled(at, {at.x + left_end, at.y + height}, ui.theme.series[0]);
    list->AddRectFilled({at.x + right_begin, at.y}, {at.x + width, at.y + height},
                        ui.theme.series[1]);
    const float below = at.y + height + ui.px(4);
    const TextStyle style{text_size::label, ui.theme.text2};
    text_at(ui, {at.x, below}, left, style);
    const float end = at.x + width - text_extent(ui, right, style.size, Face::regular).x;
    text_at(ui, {end, below}, right, style);
    ImGui::Dummy({width, height + ui.px(28)});
    tooltip(ui, {.name = "Position or content",
                 .formula = "sum over sources of min(prior, both)",
                 .sentence = "The part of this row that the position bias alone gives too; the "
                             "rest is moved by the keys."});
    ui.recorder.item("bar", ui.recorder.claim("Prior or content##prior_or_content"),
                     left + ", " + right);
}

// In their place until the prior is read: what is below must not move.
void awaited_bar(DrawContext& ui) {
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float width = ImGui::GetContentRegionAvail().x, height = ui.px(14);
    ImGui::GetWindowDrawList()->AddRectFilled(at, {at.x + width, at.y + height}, ui.theme.line);
    ImGui::Dummy({width, height + ui.px(28)});
    key_value(ui, "Divergence from prior##divergence_from_prior", kAwaited);
}

}  // namespace

double overlap(std::span<const float> row, std::span<const float> other) {
    double sum = 0;
    for (size_t j = 0; j < std::min(row.size(), other.size()); ++j)
        if (row[j] > 0 && other[j] > 0) sum += double(std::min(row[j], other[j]));
    return std::min(sum, 1.0);
}

void draw_channel_numbers(PaneContext& ui, const AttentionData& data, int64_t channel) {
    for (const AttentionChannel& one : data.rows().channels) {
        if (one.index != channel) continue;
        if (data.rows().has_gates) key_value(ui, "Gate \u03C3(Q)##gate", plain_number(one.gate, 2));
        key_value(ui, "Sharpness##sharpness", plain_number(one.sharpness, 2));
        if (!ui.status.mixer.has_prior()) continue;
        const bool is_read = !std::isnan(one.divergence);  // else the prior is not there yet
        key_value(ui, "Divergence##divergence",
                  is_read ? plain_number(one.divergence, 2) : kAwaited, is_read ? "bit" : "");
    }
}

void draw_layer_shares(PaneContext& ui, const AttentionData& data) {
    section(ui, "Layers##layers", "prior share of attention");
    const std::vector<double>& shares = data.rows().priors;
    const ImVec2 size = {ImGui::GetContentRegionAvail().x, ui.px(108)};
    if (shares.empty()) {  // what stands below must not move when they come
        const float top = ImGui::GetCursorPosY();
        hint(ui, !ui.status.mixer.has_prior() ? ui.status.mixer.no_bias + "."
                 : data.priors_are_pending()  ? "Computing all layers."
                                              : "Computed once the target rests.");
        if (const float rest = size.y - (ImGui::GetCursorPosY() - top); rest > 0)
            ImGui::Dummy({1, rest});
        return;
    }
    ImGui::SetNextItemAllowOverlap();
    const viz::BarReply bars = viz::draw_bars({.id = "shares",
                                               .values = shares,
                                               .size = size,
                                               .highlighted = int(ui.selection.cell.layer),
                                               .top = 1,
                                               .percent = true,
                                               .dimmed = data.priors_are_old()},
                                              ui);
    const ImVec2 below = ImGui::GetCursorScreenPos();
    const float pitch = bars.plot.width() / float(shares.size());
    for (size_t i = 0; i < shares.size(); ++i) {
        const std::string words = plain_number(100 * shares[i], 1) + " %";
        ImGui::SetCursorScreenPos({bars.plot.low.x + pitch * float(i), bars.plot.low.y});
        const Region bar = region(ui, "button", fmt::format("Layer {0}##layer_{0}", i),
                                  {{std::max(1.0F, pitch), bars.plot.height()}, words});
        tooltip(ui, {.name = fmt::format("Layer {}: {}", i, words),
                     .formula = "sum over sources of min(prior, both)",
                     .sentence = "The part of this target's row that the position bias alone "
                                 "gives. A click goes to the layer."});
        if (bar.pressed) ui.selection.cell.layer = int64_t(i);
    }
    ImGui::SetCursorScreenPos(below);
}

void draw_prior_or_content(PaneContext& ui, const PriorOrContent& shown) {
    const AttentionData& data = shown.data;
    section(ui, "Prior or content##prior_or_content",
            fmt::format("layer {}, this target", shown.layer));
    if (ui.status.mixer.has_prior() && data.rows().prior.row.empty()) {
        awaited_bar(ui);
    } else if (!data.rows().prior.row.empty()) {
        split_bar(ui, overlap(data.rows().both.row, data.rows().prior.row));
        key_value(ui, "Divergence from prior##divergence_from_prior",
                  plain_number(divergence_bits(data.rows().both.row, data.rows().prior.row), 3),
                  "bit");
    }
    const int64_t window = ui.status.mixer.window;
    const RowNumbers n = row_numbers(shown.positions, data.rows().both, shown.target, window);
    if (shown.positions.target(shown.target).is_on_grid())
        key_value(ui, "Mean distance##mean_distance", plain_number(n.distance, 2),
                  shown.positions.several());
    else  // a token before the grid has a row, and no place to measure from
        key_value(ui, "Mean distance##mean_distance", "none, before the grid");
    key_value(ui, "Entropy##entropy", plain_number(n.entropy, 2), "bit");
    if (window > 0)
        key_value(ui, fmt::format("Inside window {}##inside_window", window),
                  plain_number(100 * n.inside, 1), "%");
}

}  // namespace aft::app
