// Factors: the singular components of a head's position bias as pictures: which targets (above)
// look alike at which sources (below), and how much of the bias so many of them hold.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/panels/biases/bias_rank_costs.h"
#include "app/panels/biases/bias_tools.h"
#include "app/panels/panel.h"
#include "app/panels/shared/copy_command.h"
#include "app/panels/shared/fold.h"
#include "app/panels/shared/layer_words.h"
#include "app/panels/shared/lock_words.h"
#include "app/panels/shared/watch.h"
#include "app/state/probe_options.h"
#include "app/widgets/buttons.h"
#include "app/widgets/states.h"
#include "app/widgets/text.h"
#include "core/text.h"
#include "viz/atlas.h"

namespace aft::app {

PanelRoom bias_factors_panel();

namespace {

constexpr double kFactorsHold = 5;          // seconds between two looks while training runs
constexpr int64_t kMostDenseTokens = 1024;  // tokens of a w without factors: O(T^3)
constexpr float kFactorsCurve = 200;

class FactorsPanel final : public Panel {
  public:
    void draw(Ui& ui) override;
    void inspector(Ui& ui) override;

  private:
    void refresh(const PaneContext& ui);
    void make_maps(const PaneContext& ui);
    void make_cells(const PaneContext& ui, int columns);
    void draw_tools(Ui& ui);
    void draw_atlas(PaneContext& ui, float tall);
    void draw_foot(PaneContext& ui);
    // Place of a component in the atlas: lines of targets above their sources.
    [[nodiscard]] size_t component_at(const viz::AtlasHit& hit) const {
        return size_t(hit.row / 2 * made_.columns + hit.column);
    }
    [[nodiscard]] double held(size_t components) const;  // share of the energy

    Watch watch_;
    AskTurn turn_;
    FieldSetPtr shown_;
    struct Made {
        uint64_t version = 0;
        int columns = 0;  // of the atlas
    } made_;
    std::vector<Folded> maps_;  // of targets, then of sources
    std::vector<viz::AtlasCell> cells_;
    viz::Atlas atlas_;
    viz::AtlasHit read_;
    RankCosts costs_;
};

size_t count_of(const FieldSet& fields) {
    return size_t(fields.fields.front().shape.at(0));
}

// Why there is nothing to draw; empty if there is.
std::string why_no_factors(const ViewState& ui) {
    const MixerTraits& mixer = ui.status.mixer;
    if (mixer.has_kernel())
        return "The bias of " + mixer.words + " is a kernel: Focus shows it whole.";
    const double T = double(ui.status.tokens);
    if (ui.status.tokens > kMostDenseTokens && mixer.bias_values >= T * T / 2)
        return fmt::format(
            "This w has {} tokens and no factors: its components take minutes. "
            "`afterimage probe components` writes them.",
            group_thousands(ui.status.tokens));
    return "";
}

double FactorsPanel::held(size_t components) const {
    const Field& energy = shown_->fields.at(3);
    double sum = 0;
    for (size_t i = 0; i < std::min(components, energy.values.size()); ++i) sum += energy.values[i];
    return sum;
}

void FactorsPanel::refresh(const PaneContext& ui) {
    ProbeRequest request;
    request.probe = "components";
    request.options[kComponentsOption] = "8";
    request.step = ui.selection.step;
    request.layer = ui.selection.cell.layer;
    request.head = ui.status.mixer.heads > 1 ? std::max<int64_t>(0, ui.selection.cell.head) : -1;
    (void)watch_.update(ui, request, turn_, kFactorsHold);
    turn_ = {};
    if (watch_.fields() == shown_) return;
    shown_ = watch_.fields();
    ++made_.version;
    if (shown_) make_maps(ui);
}

void FactorsPanel::make_maps(const PaneContext& ui) {
    const Positions positions(ui.status, ui.selection.cell.layer);
    maps_.clear();
    made_.columns = 0;
    for (const size_t side : {0, 1})
        for (size_t i = 0; i < count_of(*shown_); ++i) {
            const Field& field = shown_->fields.at(side);
            const auto T = size_t(field.shape.at(1));
            const std::span<const float> one = std::span(field.values).subspan(i * T, T);
            maps_.push_back(side == 0 ? fold_targets(positions, one)
                                      : fold_row(positions, one, -1, true));
            maps_.back().version = made_.version * 1000 + maps_.size();
        }
}

void FactorsPanel::make_cells(const PaneContext& ui, int columns) {
    if (made_.columns == columns) return;
    made_.columns = columns;
    const size_t n = count_of(*shown_);
    cells_.assign(2 * n, {});
    for (size_t k = 0; k < maps_.size(); ++k) {
        const bool is_target = k < n;
        const size_t i = k % n, line = i / size_t(columns), column = i % size_t(columns);
        viz::AtlasCell& cell = cells_[(2 * line + (is_target ? 0 : 1)) * size_t(columns) + column];
        double most = 1e-12;
        for (const float value : maps_[k].values) most = std::max(most, double(std::abs(value)));
        cell.data = maps_[k].data();
        cell.coloring = {{-most, most}, Scale::linear, ui.theme.diverging};
        const double share = 100.0 * shown_->fields.at(3).values.at(i);
        cell.label = is_target ? fmt::format("targets {}", i + 1)
                               : fmt::format("sources {}: {:.1f} %", i + 1, share);
        cell.brief = std::to_string(i + 1);
    }
}

void FactorsPanel::draw_tools(Ui& ui) {
    if (ui.status.path.empty()) return;
    copy_command_button(ui, command_of(ui, watch_),
                        "Copies the command that writes these components.");
    ImGui::SameLine(0, ui.px(8));
    (void)action_button(ui, "lab.rank_selected");
}

// In as many lines as make the maps largest.
viz::AtlasShape component_shape(int n, const Folded& map, ImVec2 area, const DrawContext& ui) {
    viz::AtlasShape best;
    float widest = -1;
    for (int lines = 1; lines <= n; lines *= 2) {
        if (n % lines != 0) break;
        const viz::AtlasShape tried = {.rows = 2 * lines,
                                       .columns = n / lines,
                                       .tile_rows = map.rows,
                                       .tile_columns = map.columns,
                                       .cell_label = ui.px(22)};
        const viz::AtlasLayout layout = viz::layout_atlas(tried, area, ui.scale);
        const bool fits = layout.size.x <= area.x + 1 && layout.size.y <= area.y + 1;
        const float wide = fits ? layout.tile.x : 0;
        if (wide <= widest) continue;
        widest = wide;
        best = tried;
    }
    return best;
}

void FactorsPanel::draw_atlas(PaneContext& ui, float tall) {
    const size_t n = count_of(*shown_);
    viz::AtlasView view;
    view.id = "components";
    view.area = {ImGui::GetContentRegionAvail().x, tall};
    view.shape = component_shape(int(n), maps_.front(), view.area, ui);
    make_cells(ui, view.shape.columns);
    view.cells = cells_;
    const viz::AtlasReply reply = atlas_.draw(view, ui);
    ui.recorder.area(
        {.kind = "map",
         .path = ui.recorder.claim("Components##components"),
         .min = reply.box.low,
         .max = reply.box.high,
         .value = fmt::format("{} components, {:.1f} % of the energy", n, 100 * held(n)),
         .why_not = {}});
    read_ = reply.hovered;
}

void FactorsPanel::draw_foot(PaneContext& ui) {
    const size_t n = count_of(*shown_);
    std::vector<ReadOut> values;
    if (read_.is_valid()) {
        const size_t i = component_at(read_), k = size_t(read_.row % 2) * n + i;
        const Positions positions(ui.status, ui.selection.cell.layer);
        const auto place = unfold(positions, read_.cell.row, read_.cell.column);
        const float value = value_at(maps_[k], {read_.cell.row, read_.cell.column});
        values = {
            {"", fmt::format("component {}, {}", i + 1, read_.row % 2 == 0 ? "target" : "source")},
            {"", positions.pixel_words(place)},
            {"value", std::isnan(value) ? "\u2013" : significant(value, 4), exact_number(value)},
            {"singular value", significant(shown_->fields.at(2).values.at(i), 4) + " nats"}};
    } else {
        const bool is_learned = shown_->fields.front().notes.at("of") != "visible w";
        values = {{"components", std::to_string(n)},
                  {"hold", fmt::format("{:.2f} % of the energy", 100 * held(n))},
                  {"of", is_learned ? "w, learned as factors" : "w, visible pairs"}};
    }
    hover_line(ui, values, "w is the sum of targets times sources");
}

// The components that are drawn, with their exact sizes.
void FactorsPanel::inspector(Ui& ui) {
    if (!is_front() || !ui.has_model() || !shown_ || maps_.empty()) return;
    const bool has_heads = ui.status.mixer.heads > 1;
    section(ui, "Selection##selection", {}, false);
    key_value(ui, "Layer##layer", layer_words(ui.status, ui.selection.cell.layer));
    if (has_heads)
        key_value(ui, "Head##head", std::to_string(std::max<int64_t>(0, ui.selection.cell.head)));
    section(ui, "Singular values##singular_values", "nats");
    const std::vector<float>& sizes = shown_->fields.at(2).values;
    const size_t count = std::min(count_of(*shown_), sizes.size());
    if (count == 0) return;
    // They descend: five digits of the first, three of the last.
    constexpr int kMostDecimals = 6;
    const auto power = [](float v) {
        return v > 0 && std::isfinite(v) ? int(std::floor(std::log10(v))) : 0;
    };
    const int decimals = std::max({4 - power(sizes.front()), 2 - power(sizes[count - 1]), 0});
    for (size_t i = 0; i < count; ++i)
        key_value(
            ui, {fmt::format("Component {}", i + 1), fmt::format("component_{}", i + 1)},
            decimals > kMostDecimals ? significant(sizes[i], 5) : plain_number(sizes[i], decimals));
}

void FactorsPanel::draw(Ui& ui) {
    const BiasForm form(ui.status);
    if (bias_state(ui, form)) return;
    const std::string why = why_no_factors(ui);
    if (!why.empty())
        return empty_state(ui, {.drawing = Drawing::grid,
                                .title = "No components here",
                                .sentence = why,
                                .primary = {},
                                .secondary = {},
                                .hint = {}});
    refresh(ui);
    const bool has_heads = ui.status.mixer.heads > 1;
    costs_.update(ui, ui.selection.cell.layer,
                  has_heads ? std::max<int64_t>(0, ui.selection.cell.head) : -1);
    draw_tools(ui);
    costs_.draw_tools(ui);
    std::string place = "layer " + layer_words(ui.status, ui.selection.cell.layer);
    if (ui.status.mixer.heads > 1)
        place += fmt::format(", head {}", std::max<int64_t>(0, ui.selection.cell.head));
    caption(ui, "Components of w, " + place,
            "above: the targets, below: the sources and the share of the energy, each on its own "
            "range  \u00B7  " +
                step_words(ui, shown_));
    if (!watch_.error().empty())
        banner(ui, {.title = "The components could not be read", .sentence = watch_.error()});
    // Over maps that are shown there are no words: they would move.
    if (watch_.is_pending() && !watch_.is_current())
        (void)progress_line(ui, maps_.empty() ? "Reading" : "", -1);
    if (!shown_ || maps_.empty()) return;
    const float all = canvas_height(ui);
    // Where it is wanted the maps become smaller.
    const float least = ui.px(costs_.is_on() ? 320 : 350);
    const float curve = all > ui.px(440) ? ui.px(kFactorsCurve) : all > least ? ui.px(168) : 0;
    draw_atlas(ui, std::max(ui.px(80), all - curve - ui.px(8)));
    if (curve > 0) costs_.draw_plots(ui, curve - ui.px(8));
    draw_foot(ui);
}

}  // namespace

PanelRoom bias_factors_panel() {
    return {.info = {"Factors", "the singular components of w as pictures"},
            .id = "factors",
            .icon = icon::functions,
            .help =
                "w is a sum of components: how much a target has of each (above) times how much "
                "a source has of it (below), the largest first. Few of them hold most of a bias "
                "of low rank. \"Loss against rank\" measures on the pinned batch what the model "
                "loses without the others; \"Lower its rank\" opens that in the Lab.",
            .places = {{Workspace::biases, Slot::canvas, 5}},
            .make = make_panel<FactorsPanel>};
}

}  // namespace aft::app
