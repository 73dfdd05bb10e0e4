// Keys: key feature maps exp(K) of every layer over the picture, each channel divided by its mean.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "app/panels/attention/key_chosen.h"
#include "app/panels/attention/key_grid.h"
#include "app/panels/panel.h"
#include "app/panels/shared/copy_command.h"
#include "app/panels/shared/fold.h"
#include "app/panels/shared/lock_words.h"
#include "app/panels/shared/sample_input.h"
#include "app/panels/shared/sample_popup.h"
#include "app/panels/shared/tool_row.h"
#include "app/panels/shared/watch.h"
#include "app/state/probe_options.h"
#include "app/widgets/buttons.h"
#include "app/widgets/states.h"
#include "app/widgets/text.h"
#include "core/text.h"
#include "viz/atlas.h"

namespace aft::app {

PanelRoom keys_panel();

namespace {

constexpr int64_t kColumns = 12;

struct KeyLayer {
    Watch watch;
    std::vector<int64_t> index;  // channels shown
    std::vector<Folded> maps;    // one per shown channel
    int64_t channels = 0;        // of the layer
    Range range;                 // of all its shown maps
    std::vector<Range> own;
};

class KeysPanel : public Panel {
  public:
    void draw(Ui& ui) override;
    void inspector(Ui& ui) override;
    [[nodiscard]] std::vector<std::string> figures() const override { return {"keys"}; }

  private:
    void update(const PaneContext& ui);
    void take(const ModelView& ui, KeyLayer& layer);
    void draw_grid(PaneContext& ui, const viz::Box& box);
    void fill_cells(const KeyGrid& grid);
    void take_pointer(ViewState& ui, const KeyGrid& grid, const viz::AtlasReply& reply);
    void draw_foot(PaneContext& ui, const Positions& positions);
    [[nodiscard]] Coloring coloring(size_t layer, size_t map) const;
    [[nodiscard]] const Folded* chosen(const ViewState& ui, size_t* layer, size_t* map) const;

    uint64_t opened_ = 0;
    std::vector<KeyLayer> layers_;
    KeyChosen chosen_;
    SampleTool sample_;
    viz::Atlas atlas_;
    std::vector<viz::AtlasCell> cells_;
    struct KeysView {
        int quantity = 0, range = 0, page = 0;
    } view_;
    uint64_t versions_ = 0;
    size_t grid_columns_ = 0;
    struct KeysAnswer {
        int page = 0;
        std::string error{};
        bool is_pending = false;
    } answer_;
};

Coloring KeysPanel::coloring(size_t layer, size_t map) const {
    const KeyLayer& from = layers_[layer];
    return {view_.range == 0 ? from.own[map] : from.range, Scale::linear, Colormap::viridis};
}

void KeysPanel::take(const ModelView& ui, KeyLayer& layer) {
    const Field& field = layer.watch.fields()->fields.front();
    layer.index.clear();
    layer.maps.clear();
    layer.own.clear();
    if (field.shape.size() != 2) return;
    layer.channels = field.shape[0];
    const auto width = size_t(field.shape[1]);
    const Positions positions(ui.status);
    const int64_t count = std::min(kColumns, layer.channels);
    std::vector<float> all;
    for (int64_t i = 0; i < count; ++i) {
        // Evenly spread over the channels; a page moves them on by one.
        const int64_t c = (i * layer.channels / count + view_.page) % layer.channels;
        const std::span<const float> row(field.values.data() + size_t(c) * width, width);
        Folded map = fold_row(positions, row, -1, true);
        map.version = ++versions_;
        std::vector<float> seen;
        for (size_t k = 0; k < map.values.size(); ++k)
            if (map.hidden[k] == 0) seen.push_back(map.values[k]);
        const Range limits = value_range(seen, 99.8, false);
        layer.own.push_back(view_.quantity == 0 ? Range{0, std::max(1e-6, limits.high)} : limits);
        all.insert(all.end(), seen.begin(), seen.end());
        layer.index.push_back(c);
        layer.maps.push_back(std::move(map));
    }
    const Range limits = value_range(all, 99.8, false);
    layer.range = view_.quantity == 0 ? Range{0, std::max(1e-6, limits.high)} : limits;
}

void KeysPanel::update(const PaneContext& ui) {
    if (std::exchange(opened_, ui.opened) != ui.opened) layers_.clear();  // another model
    layers_.resize(ui.status.layers.size());
    answer_.error.clear();
    answer_.is_pending = false;
    const std::vector<uint8_t> tokens = sample_tokens(ui);
    if (tokens.empty()) return;
    const bool other_page = answer_.page != view_.page;
    answer_.page = view_.page;
    for (size_t i = 0; i < layers_.size(); ++i) {
        ProbeRequest request;
        request.probe = "keys";
        request.step = ui.selection.step;
        request.layer = int64_t(i);
        request.tokens = tokens;
        kKeyQuantityOption.set(request, KeyQuantity(view_.quantity));
        AskTurn turn;
        const bool is_new = layers_[i].watch.update(ui, request, turn, 1.0);
        if (layers_[i].watch.fields() && (is_new || other_page)) take(ui, layers_[i]);
        answer_.is_pending |= layers_[i].watch.is_pending();
        if (!layers_[i].watch.error().empty()) answer_.error = layers_[i].watch.error();
    }
}

const Folded* KeysPanel::chosen(const ViewState& ui, size_t* layer, size_t* map) const {
    const auto l = size_t(ui.selection.shown().layer);
    if (l >= layers_.size() || layers_[l].maps.empty()) return nullptr;
    const auto& index = layers_[l].index;
    const auto found = std::find(index.begin(), index.end(), ui.selection.shown().channel);
    const size_t m = found == index.end() ? 0 : size_t(found - index.begin());
    if (layer != nullptr) *layer = l;
    if (map != nullptr) *map = m;
    return &layers_[l].maps[m];
}

void KeysPanel::fill_cells(const KeyGrid& grid) {
    cells_.assign(layers_.size() * grid.shown(), {});
    for (size_t l = 0; l < layers_.size(); ++l)
        for (size_t m = 0; m < grid.shown(); ++m) {
            const size_t map = grid.map_at(m);
            if (map >= layers_[l].maps.size()) break;
            viz::AtlasCell& cell = cells_[l * grid.shown() + m];
            const Folded& folded = layers_[l].maps[map];
            const Folded& first = layers_.front().maps.front();
            if (folded.rows != first.rows || folded.columns != first.columns) continue;
            cell.data = folded.data();
            cell.coloring = coloring(l, map);
            if (grid.lines > 1) cell.label = fmt::format("c{}", layers_[l].index[map]);
        }
}

void KeysPanel::draw_grid(PaneContext& ui, const viz::Box& box) {
    const size_t all = layers_.empty() ? 0 : layers_.front().maps.size();
    ImGui::SetCursorScreenPos(box.low);
    if (all == 0) {  // in the place of the maps, until there are some
        if (answer_.is_pending) (void)progress_line(ui, "Computing these keys, layer by layer", -1);
        return;
    }
    viz::AtlasView view;
    view.shape = {.rows = int(layers_.size()),
                  .columns = int(all),
                  .tile_rows = layers_.front().maps.front().rows,
                  .tile_columns = layers_.front().maps.front().columns,
                  .row_label = ui.px(34),
                  .column_label = ui.px(24)};
    view.area = {box.width(), box.height()};
    const KeyGrid grid = fullest_grid(view.shape, view.area, ui);
    view.shape.columns = grid.columns;
    view.shape.rows *= grid.lines;
    if (grid.lines > 1) {
        view.shape.cell_label = ui.px(22);
        view.shape.column_label = ui.px(2);
    }
    grid_columns_ = grid.shown();
    fill_cells(grid);
    std::vector<std::string> rows(layers_.size() * size_t(grid.lines)), heads;
    for (size_t l = 0; l < layers_.size(); ++l)
        rows[l * size_t(grid.lines)] = fmt::format("L{}", l);
    for (size_t m = 0; m < grid.shown() && grid.lines == 1; ++m)
        heads.push_back(fmt::format("c{}", layers_.front().index[grid.map_at(m)]));
    view.cells = cells_;
    view.row_labels = rows;
    view.column_labels = heads;
    size_t l = 0, m = 0;
    if (chosen(ui, &l, &m) != nullptr)
        for (size_t place = 0; place < grid.shown(); ++place) {
            if (grid.map_at(place) != m) continue;
            view.selected_row = int(l) * grid.lines + int(place) / grid.columns;
            view.selected_column = int(place) % grid.columns;
        }
    view.raise_selected_row = false;
    const viz::AtlasReply reply = atlas_.draw(view, ui);
    ui.recorder.area({.kind = "map",
                      .path = ui.recorder.claim("Key maps##key_maps"),
                      .min = reply.box.low,
                      .max = reply.box.high,
                      .value = fmt::format("{} layers, {} channels", layers_.size(), grid.shown()),
                      .why_not = {}});
    take_pointer(ui, grid, reply);
}

void KeysPanel::take_pointer(ViewState& ui, const KeyGrid& grid, const viz::AtlasReply& reply) {
    const viz::AtlasHit hit = reply.clicked.is_valid() ? reply.clicked : reply.hovered;
    const auto layer = size_t(std::max(0, hit.row) / grid.lines);
    if (!hit.is_valid() || layers_[layer].maps.empty()) return;
    const Positions positions(ui.status);
    const Positions::GridPosition p = unfold(positions, hit.cell.row, hit.cell.column);
    Cell cell = ui.selection.cell;
    cell.layer = int64_t(layer);
    const auto place = size_t(hit.row % grid.lines * grid.columns + hit.column);
    cell.channel = layers_[layer].index[grid.map_at(place)];
    cell.source = p.is_on_grid() ? positions.source_at(p.y, p.x, 0) : -1;
    if (reply.clicked.is_valid())
        ui.selection.lock(cell);
    else
        ui.selection.point(cell);
}

void KeysPanel::draw_foot(PaneContext& ui, const Positions& positions) {
    size_t l = 0, m = 0;
    const Folded* const map = chosen(ui, &l, &m);
    std::vector<ReadOut> values;
    if (map != nullptr) {
        values = {{"layer", std::to_string(l)}, {"channel", std::to_string(layers_[l].index[m])}};
        const Positions::GridPosition place = shown_source(ui, positions);
        const FoldPlace at = fold_place(positions, place);
        if (at.row >= 0) {
            const double v = map->values[size_t(at.row * map->columns + at.column)];
            int64_t rank = 1, count = 0;
            for (size_t k = 0; k < map->values.size(); ++k) {
                if (map->hidden[k] != 0) continue;
                ++count;
                rank += map->values[k] > v ? 1 : 0;
            }
            values.push_back({positions.one(), positions.is_text
                                                   ? place_and_byte(ui, positions, place)
                                                   : fmt::format("({}, {})", at.row, at.column)});
            values.push_back({view_.quantity == 0 ? "exp(K) / mean" : "log", stored_value(v),
                              exact_number(float(v))});
            values.push_back({"rank", group_thousands(int64_t(rank)) + " of " +
                                          group_thousands(int64_t(count))});
        }
    }
    hover_line(ui, values, lock_words(ui, "Hover reads, click locks, P pins"));
}

// Draws why there is nothing and returns true for a mixer whose keys have no maps.
bool has_no_maps(Ui& ui) {
    const MixerTraits& mixer = ui.status.mixer;
    if (mixer.has_key_maps) return false;
    empty_state(ui, {.drawing = Drawing::layers,
                     .title = "No key maps in this model",
                     .sentence = mixer.no_keys +
                                 (mixer.has_attention
                                      ? "; the tab Attention shows what its heads attend to."
                                      : "."),
                     .primary = "file.open",
                     .secondary = "file.open_demo",
                     .hint = {},
                     .secondary_words = "Try the demo"});
    return true;
}

void key_quantity_tool(DrawContext& ui, int& quantity) {
    const Choice quantities[] = {{.text = "exp(K)##exp",
                                  .tip = "The weight that a source's key gives it, over its mean.",
                                  .formula = "exp(K[j,c]) / mean_j exp(K[j,c])"},
                                 {.text = "log exp(K)##log_exp",
                                  .tip = "The same as a logarithm, in which small weights show.",
                                  .formula = "K[j,c] \u2212 log mean_j exp(K[j,c])"}};
    (void)segmented(ui, "Quantity##quantity", quantity, {quantities});
}

void KeysPanel::draw(Ui& ui) {
    if (sample_state(ui)) return;
    if (has_no_maps(ui)) {
        layers_.clear();  // of the model before
        return;
    }
    const Positions positions(ui.status);
    const float end = ImGui::GetCursorScreenPos().x + ImGui::GetContentRegionAvail().x;
    sample_.draw(ui);
    ImGui::SameLine(0, ui.px(12));
    key_quantity_tool(ui, view_.quantity);
    const int64_t channels = layers_.empty() ? 0 : layers_.front().channels;
    const size_t last = std::exchange(grid_columns_, 0);  // 0: nothing was drawn
    const bool has_more = last > 0 && channels > int64_t(last);
    const Tool tools[] = {
        {204,
         [&] {
             inline_label(ui, "Range");
             const Choice ranges[] = {{.text = "Channel##channel"}, {.text = "Layer##layer"}};
             (void)segmented(ui, "Range##range", view_.range,
                             {.list = ranges, .tip = "Where the limits of the colours come from."});
         }},
        {144, [&] {
             if (button(ui, {.name = "More channels##more_channels",
                             .why_not = has_more ? "" : "All channels are shown.",
                             .tip = "The next ones of every layer."}))
                 ++view_.page;
         }}};
    tool_row(ui, end - ImGui::GetItemRectMax().x, tools);
    if (sample_missing(ui)) return;
    update(ui);
    const size_t shown = layers_.empty() ? 0 : last;
    const std::string what = fmt::format(
        "{} of {} channels per layer, each divided by its mean (absolute size has no meaning){}  "
        "\u00B7  {}",
        shown, channels, positions.channels > 1 ? ", mean of a pixel's channels" : "",
        layers_.empty() ? "" : step_words(ui, layers_.front().watch.fields()));
    caption(ui, view_.quantity == 0 ? "Key maps exp(K)" : "Key maps K", shown == 0 ? "" : what);
    if (!answer_.error.empty())
        banner(ui, {.title = "The keys could not be computed", .sentence = answer_.error});
    if (answer_.is_pending && shown > 0) (void)progress_line(ui, "", -1);
    const ImVec2 corner = ImGui::GetCursorScreenPos();
    const ImVec2 all = {ImGui::GetContentRegionAvail().x, canvas_height(ui)};
    const float left = positions.is_text ? std::min(ui.px(480), std::floor(all.x * 0.48F))
                                         : std::min(ui.px(224), all.x * 0.35F);
    size_t l = 0, m = 0;
    ChosenKey key;
    if (const Folded* const map = chosen(ui, &l, &m); map != nullptr)
        key = {
            .map = map,
            .coloring = coloring(l, m),
            .title = fmt::format("{} {}, channel {}", positions.is_text ? "Text, layer" : "Layer",
                                 l, layers_[l].index[m])};
    chosen_.draw(ui, positions, key, {left, all.y});
    draw_grid(ui, {{corner.x + left + ui.px(24), corner.y},
                   {corner.x + all.x, corner.y + all.y - ui.px(4)}});
    draw_foot(ui, positions);
}

void KeysPanel::inspector(Ui& ui) {
    if (!is_front() || !ui.has_model()) return;
    size_t l = 0, m = 0;
    const Folded* const map = chosen(ui, &l, &m);
    if (map == nullptr) return;
    section(ui, "Selection##selection", {}, false);
    key_value(ui, "Layer##layer", std::to_string(l));
    key_value(ui, "Channel##channel", std::to_string(layers_[l].index[m]));
    double total = 0, top = 0, entropy = 0;
    const auto mass = [&](size_t k) {
        if (map->hidden[k] != 0) return 0.0;
        return view_.quantity == 0 ? double(map->values[k]) : std::exp(double(map->values[k]));
    };
    for (size_t k = 0; k < map->values.size(); ++k) total += mass(k);
    for (size_t k = 0; total > 0 && k < map->values.size(); ++k) {
        const double share = mass(k) / total;
        top = std::max(top, share);
        if (share > 0) entropy -= share * std::log2(share);
    }
    section(ui, "Channel statistics##channel_statistics");
    key_value(ui, "Entropy##entropy", plain_number(entropy, 2), "bit");
    const double places = std::exp2(entropy);
    key_value(ui, "Effective places##effective_places",
              places < 999.95 ? plain_number(places, 1) : group_thousands(std::llround(places)),
              "of " + group_thousands(int64_t(map->values.size())));
    key_value(ui, "Largest share##largest_share", plain_number(100 * top, 2), "%");
    section(ui, "Display##display");
    over_image_controls(ui);
    section(ui, "Actions##actions");
    action_button(ui, "selection.pin");
    action_button(ui, "file.save_figure");
    ImGui::SameLine(0, ui.px(8));
    copy_command_button(ui, command_of(ui, layers_[l].watch));
}

}  // namespace

PanelRoom keys_panel() {
    return {{"Keys", "key feature maps of every layer over the picture or text"},
            "keys",
            icon::layers,
            "One map per layer and channel: where the keys are large, every target attends more. "
            "Hover for values; a click chooses the map that is drawn large.",
            {{Workspace::attention, Slot::canvas, 1}},
            make_panel<KeysPanel>};
}

}  // namespace aft::app
