#include "app/panels/biases/bias_by_step.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/panels/biases/side_heading.h"
#include "core/text.h"

namespace aft::app {

constexpr size_t kMoments = 4;

// The blocks are coarser than those of the map beside it.
static std::string by_step_words(const ViewState& ui, const Blocks& block) {
    const std::string words = "range of the chosen step";
    if (block.is_single()) return words;
    return fmt::format("{}, 1:{}, {}", words, block.words(),
                       ui.selection.block_value == BlockValue::mean ? "mean" : "extreme");
}

static float strip_height(const BiasForm& form, float each) {
    const float tall = form.has_free_axes() ? each : each * float(form.rows) / float(form.columns);
    return std::min(tall, each * 1.5F);
}

float BiasBySteps::height(const PaneContext& ui, const BiasForm& form, float width) {
    if (ui.history.size() < 2) return 0;
    const float each = width / float(std::min(kMoments, ui.history.size())) - ui.px(4);
    return ui.px(36 + 28 + 12) + strip_height(form, each);  // heading, labels, gaps
}

void BiasBySteps::draw(PaneContext& ui, const BiasForm& form, BiasLayers& layers, float width) {
    if (ui.history.size() < 2) return;
    const int64_t layer = ui.selection.cell.layer;
    const int64_t head =
        form.heads > 1 ? std::clamp<int64_t>(ui.selection.cell.head, 0, form.heads - 1) : 0;
    const size_t count = std::min(kMoments, ui.history.size());
    moments_.resize(count);
    const float each = width / float(count) - ui.px(4);
    // The atlas draws a value as large at every scale.
    const float fine = each / std::max(1.0F, std::floor(ui.scale));
    const Blocks block = form.blocks_for({fine, fine});
    const bool has_change = shows_change(ui);
    const FieldSet* const before = has_change ? layers.layer(layer).pinned.fields().get() : nullptr;
    std::vector<viz::AtlasCell> cells(count);
    const Coloring coloring = layers.coloring(ui, layer, head);
    for (size_t i = 0; i < count; ++i) {
        BiasMoment& moment = moments_[i];
        const size_t at = count < 2 ? 0 : (ui.history.size() - 1) * i / (count - 1);
        ProbeRequest request =
            bias_request(ui, form, {.layer = layer, .block = block, .is_change = has_change});
        request.step = moment.step = ui.history[at];
        if (moment.watch.update(ui, request, layers.turn(layer))) moment.version = ++versions_;
        cells[i].label = group_thousands(moment.step);
        if (!moment.watch.is_current()) continue;
        const uint64_t other = has_change ? layers.layer(layer).version << 32 : 0;
        const uint64_t value = uint64_t(ui.selection.block_value) << 62;
        const uint64_t key = value + other + moment.version * 64 + uint64_t(head);
        if (moment.built != key || moment.map.block != block)
            moment.map = map_of_fields({*moment.watch.fields(), before, ui.selection.block_value},
                                       form, head, block);
        moment.built = key;
        if (moment.map.shown.empty()) continue;
        cells[i].data = moment.map.data(key);
        cells[i].coloring = coloring;
    }
    side_heading(ui, form.heads > 1 ? "Head by step##by_step" : "Layer by step##by_step",
                 by_step_words(ui, block));
    viz::AtlasView view;
    view.id = "by step";
    view.shape = {.rows = 1,
                  .columns = int(count),
                  .tile_rows = (form.rows + block.rows - 1) / block.rows,
                  .tile_columns = (form.columns + block.columns - 1) / block.columns,
                  .free_axes = form.has_free_axes(),
                  .cell_label = ui.px(22)};
    view.cells = cells;
    view.area = {width, strip_height(form, each) + ui.px(28)};
    view.raise_selected_row = false;
    const viz::AtlasReply reply = strip_.draw(view, ui);
    for (size_t i = 0; i < count; ++i) {
        if (!cells[i].data.values.empty()) continue;
        const viz::Box box = reply.layout.cell(0, int(i));
        const ImVec2 low = {reply.box.low.x + box.low.x, reply.box.low.y + box.low.y};
        draw_awaited(ui, {low, {low.x + box.width(), low.y + box.height()}},
                     moments_[i].watch.error().empty() ? "Reading" : "Not read");
    }
    if (reply.clicked.is_valid())
        ui.commands.send(ShowStep{moments_[size_t(reply.clicked.column)].step});
}

}  // namespace aft::app
