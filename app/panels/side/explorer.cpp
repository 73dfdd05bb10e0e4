// Explorer: the open run, recent runs, its layers with the norm of their position bias, and pins.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/panels/panel.h"
#include "app/panels/shared/layer_words.h"
#include "app/panels/shared/norm_words.h"
#include "app/panels/shared/run_menu.h"
#include "app/state/icons.h"
#include "app/state/open_path.h"
#include "app/widgets/combo.h"
#include "app/widgets/number_text.h"
#include "app/widgets/states.h"
#include "app/widgets/text.h"
#include "app/widgets/text_fields.h"
#include "app/widgets/tooltip.h"
#include "core/text.h"
#include "model/jobs.h"

namespace aft::app {
namespace {

class ExplorerPanel final : public Panel {
  public:
    void draw(Ui& ui) override;

  private:
    [[nodiscard]] bool passes(std::string_view name) const;
    void list_runs(const ViewState& ui);
    void draw_runs(PaneContext& ui);
    void draw_run_rows(PaneContext& ui);
    void draw_layers(PaneContext& ui);
    void draw_pins(PaneContext& ui);
    static bool draw_pin(PaneContext& ui, size_t index);
    std::string filter_;
    std::vector<RecentItem> recent_, runs_;  // as they were; the runs among them
    std::string open_;                       // the path that was open then
};

// A run of which only a step was opened has no mark of its own; while that step is open, to branch
// from it say, it has a row of its own.
void ExplorerPanel::list_runs(const ViewState& ui) {
    if (recent_ == ui.settings.recent && open_ == ui.status.path) return;
    recent_ = ui.settings.recent;
    open_ = ui.status.path;
    runs_.clear();
    if (!run_of_step(open_).empty())
        for (const RecentItem& item : recent_)
            if (is_same_path(item.path, open_)) runs_.push_back(item);
    std::vector<std::string> paths;
    for (const RecentItem& item : recent_)
        if (!is_sweep_item(item)) paths.push_back(item.path);
    for (const std::string& path : of_runs(paths)) {
        const auto known = std::find_if(recent_.begin(), recent_.end(),
                                        [&](const RecentItem& item) { return item.path == path; });
        runs_.push_back(known != recent_.end()
                            ? *known
                            : RecentItem{.path = path, .name = shown_name(path), .what = {}});
    }
}

bool ExplorerPanel::passes(std::string_view name) const {
    const auto same = [](char a, char b) { return std::tolower(a) == std::tolower(b); };
    return filter_.empty() || std::search(name.begin(), name.end(), filter_.begin(), filter_.end(),
                                          same) != name.end();
}

void ExplorerPanel::draw(Ui& ui) {
    if (ui.session == nullptr && ui.settings.recent.empty()) {
        hint(ui, "Runs and layers appear here.");
        return;
    }
    text_field(ui,
               {.name = "Filter##filter",
                .hint = "Filter runs and layers",
                .icon = icon::search,
                .tip = "Shows the runs and layers that have these letters."},
               filter_);
    draw_runs(ui);
    if (ui.has_model()) draw_layers(ui);
    if (ui.has_model()) draw_pins(ui);
}

void ExplorerPanel::draw_runs(PaneContext& ui) {
    list_runs(ui);
    section(ui, "Runs##runs", std::to_string(runs_.size()), false);
    if (runs_.empty()) return;
    // It scrolls by itself, so that layers and pins stay in view.
    constexpr float kRow = 40;
    const float least = 3 * kRow, share = ImGui::GetContentRegionAvail().y * 0.35F;
    const float all = ui.px(kRow) * static_cast<float>(runs_.size());
    const float height = std::min(all, std::max(ui.px(least), share));
    ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(ImGui::GetStyle().ItemSpacing.x, 0));
    if (ImGui::BeginChild("runs", {0, height}, ImGuiChildFlags_NavFlattened)) draw_run_rows(ui);
    ImGui::EndChild();
    ImGui::PopStyleVar();
}

void ExplorerPanel::draw_run_rows(PaneContext& ui) {
    for (const RecentItem& item : runs_) {
        const std::string name = ui.settings.shown_name_of(item.path, item.name);
        if (!passes(name) && !passes(item.name) && !passes(run_tag(ui, item.path))) continue;
        const bool is_open = ui.has_model() && is_same_path(item.path, ui.status.path);
        ImGui::SetNextItemAllowOverlap();
        const Row line = row(ui, WidgetName::data(item.path), {40, is_open, name});
        run_tooltip(ui, item.path, name);
        ImGui::GetWindowDrawList()->AddRectFilled({line.min.x + ui.px(8), line.min.y + ui.px(8)},
                                                  {line.min.x + ui.px(18), line.min.y + ui.px(18)},
                                                  ui.theme.series[size_t(item.color)], ui.px(2));
        const float available = line.max.x - line.min.x;
        text_at(ui, {line.min.x + ui.px(26), line.min.y + ui.px(3)}, name,
                {text_size::label, ui.theme.text1, Face::regular, available - ui.px(58)});
        if (is_open) {
            icon_at(ui, {line.min.x + ui.px(33), line.min.y + ui.px(29)},
                    state_icon(shown_state(ui.status)),
                    {text_size::icon_inline, state_color(ui.theme, shown_state(ui.status))});
            const std::string step = group_thousands(ui.status.step);
            const std::string of_what =
                ui.status.task.loss_in_bits ? "training" : ui.status.metric_words;
            const std::string metric = std::isfinite(ui.status.metric)
                                           ? of_what + " " + short_value(ui.status.metric, 3)
                                           : std::string();
            text_at(ui, {line.min.x + ui.px(46), line.min.y + ui.px(21)}, step,
                    {text_size::hint, ui.theme.text2});
            const float used = text_extent(ui, step, text_size::hint).x +
                               text_extent(ui, metric, text_size::hint).x + ui.px(46 + 8 + 8);
            if (used <= available)
                text_right(ui, {line.max.x - ui.px(8), line.min.y + ui.px(21)}, metric,
                           {text_size::hint, ui.theme.text2});
        } else {
            text_at(ui, {line.min.x + ui.px(26), line.min.y + ui.px(21)}, item.what,
                    {text_size::hint, ui.theme.text3, Face::regular, available - ui.px(34)});
        }
        if (line.pressed && !is_open) ui.commands.send(OpenPath{item.path});
        run_menu(ui, item, {line.max.x - ui.px(26), line.min.y});
    }
}

// What training wrote at the step that is shown, or at the last one before it that was logged.
double shown_norm(const ViewState& ui, size_t layer) {
    const double newest = ui.status.layers[layer].bias_norm;
    if (ui.selection.step < 0 && std::isfinite(newest)) return newest;
    const int64_t step = ui.shown_step();
    const auto column = ui.curves->columns.find(fmt::format("bias_norm.layer.{}", layer));
    if (column == ui.curves->columns.end()) return std::nan("");
    const auto& steps = ui.curves->step;
    const auto after = std::upper_bound(steps.begin(), steps.end(), double(step)) - steps.begin();
    for (auto i = std::min(size_t(after), column->second.size()); i-- > 0;)
        if (std::isfinite(column->second[i])) return column->second[i];
    return std::nan("");
}

std::string norm_words(double norm) {
    return std::isfinite(norm) ? short_value(norm, 2) : "\u2013";
}

// Why there is no number; "" where there is.
std::string why_no_norm(const ViewState& ui, double norm) {
    if (std::isfinite(norm)) return "";
    if (!ui.status.mixer.has_bias()) return "This model has no position bias.";
    if (ui.curves->step.empty())
        return "Training logs this norm, and no log comes with this model. Statistics in the "
               "Biases workspace measures those of every stored step.";
    return fmt::format(
        "Training logs this norm from its first step on, and has logged none up to step {}. "
        "Statistics in the Biases workspace measures those of every stored step.",
        group_thousands(ui.shown_step()));
}

struct LayerLine {
    const std::string& name;
    double norm, largest;
    bool selected;
    float bar_low;  // from the row's left, pixels
};

constexpr float kNormSpace = 76, kLeastBar = 20;  // at the right; of a bar

// Behind the longest name: the bars of all layers begin alike.
float bars_begin(const PaneContext& ui) {
    float widest = 0;
    for (size_t i = 0; i < ui.status.layers.size(); ++i)
        widest = std::max(
            widest,
            text_extent(ui, "Layer " + layer_words(ui.status, int64_t(i)), text_size::label).x);
    return std::max(ui.px(92), ui.px(10 + 12) + widest);
}

// The name, a bar where those of all layers fit, the number.
void draw_layer(DrawContext& ui, const Row& line, const LayerLine& layer) {
    const std::string number = norm_words(layer.norm);
    const float y = line.min.y + ui.px(2), middle = (line.min.y + line.max.y) / 2;
    const float low = line.min.x + ui.px(10), high = line.max.x - ui.px(8);
    const float end = high - text_extent(ui, number, text_size::label).x;
    text_right(ui, {high, y}, number, {text_size::label, ui.theme.text2});
    if (end - ui.px(8) > low)
        text_at(ui, {low, y}, layer.name,
                {text_size::label, layer.selected ? ui.theme.text1 : ui.theme.text2, Face::regular,
                 end - ui.px(8) - low});
    const float bar_low = line.min.x + layer.bar_low, bar_high = line.max.x - ui.px(kNormSpace);
    if (bar_high - bar_low < ui.px(kLeastBar) || bar_high > end || !std::isfinite(layer.norm))
        return;
    ImDrawList* draw = ImGui::GetWindowDrawList();
    draw->AddRectFilled({bar_low, middle - ui.px(2)}, {bar_high, middle + ui.px(2)}, ui.theme.field,
                        ui.px(2));
    const float filled =
        bar_low + (bar_high - bar_low) * static_cast<float>(layer.norm / layer.largest);
    if (filled - bar_low < 1) return;  // a norm of 0 has no bar
    draw->AddRectFilled({bar_low, middle - ui.px(2)}, {filled, middle + ui.px(2)},
                        layer.selected ? ui.theme.accent : ui.theme.text3, ui.px(2));
}

void ExplorerPanel::draw_layers(PaneContext& ui) {
    section(ui, "Layers##layers",
            fmt::format("{}{}", ui.status.layers.size(),
                        ui.status.mixer.has_bias() ? ", position bias" : ""));
    double largest = 1e-9;
    for (size_t i = 0; i < ui.status.layers.size(); ++i)
        largest = std::max(largest, std::isfinite(shown_norm(ui, i)) ? shown_norm(ui, i) : 0);
    const float bar_low = bars_begin(ui);
    const bool has_bars =
        ImGui::GetContentRegionAvail().x - ui.px(kNormSpace) - bar_low >= ui.px(kLeastBar);
    const float between = ImGui::GetStyle().ItemSpacing.y;
    ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {ImGui::GetStyle().ItemSpacing.x, 0});
    for (size_t i = 0; i < ui.status.layers.size(); ++i) {
        const std::string name = "Layer " + layer_words(ui.status, static_cast<int64_t>(i));
        if (!passes(name)) continue;
        const double norm = shown_norm(ui, i);
        const bool selected = ui.selection.cell.layer == static_cast<int64_t>(i);
        const Row line =
            row(ui, {name, fmt::format("layer_{}", i)}, {22, selected, norm_words(norm)});
        const std::string why = why_no_norm(ui, norm);
        if (has_layer_names(ui.status) || !why.empty())
            tooltip(ui,
                    {.name = "Layer " + full_layer_words(ui.status, int64_t(i)), .sentence = why});
        draw_layer(ui, line, {name, norm, largest, selected, bar_low});
        if (line.pressed) {
            Cell cell = ui.selection.cell;
            cell.layer = static_cast<int64_t>(i);
            ui.selection.lock(cell);
        }
    }
    ImGui::PopStyleVar();
    ImGui::Dummy({1, between});
    const bool has_kernel = ui.status.mixer.has_kernel();
    hint(ui, (has_bars ? "bar: norm (" : "norm (") + norm_of_training(has_kernel) + ")");
}

void ExplorerPanel::draw_pins(PaneContext& ui) {
    section(ui, "Pins##pins", "P adds");
    if (ui.selection.pins.empty()) hint(ui, "A pin keeps a place and a step to come back to.");
    for (size_t i = ui.selection.pins.size(); i-- > 0;)
        if (!draw_pin(ui, i)) ui.selection.pins.erase(ui.selection.pins.begin() + ptrdiff_t(i));
}

// False: it is to go.
bool ExplorerPanel::draw_pin(PaneContext& ui, size_t index) {
    Pin& pin = ui.selection.pins[index];
    ImGui::SetNextItemAllowOverlap();
    const Row line =
        row(ui, {fmt::format("Pin {} {}", index, pin.words), fmt::format("pin_{}", index)},
            {22, false, pin.shown()});
    const std::string step = "step " + group_thousands(pin.step);
    tooltip(ui, {.name = pin.shown(), .sentence = step});
    icon_at(ui, {line.min.x + ui.px(12), (line.min.y + line.max.y) / 2}, icon::pin,
            {text_size::icon_inline, ui.theme.text3});
    const float available = line.max.x - line.min.x - ui.px(58);
    const float words = text_extent(ui, pin.shown(), text_size::label).x + ui.px(8);
    text_at(ui, {line.min.x + ui.px(26), line.min.y + ui.px(2)}, pin.shown(),
            {text_size::label, ui.theme.text2, Face::regular, std::max(1.0f, available)});
    if (words + text_extent(ui, step, text_size::hint).x <= available)
        text_right(ui, {line.max.x - ui.px(30), line.min.y + ui.px(2)}, step,
                   {text_size::hint, ui.theme.text3});
    if (line.pressed) {
        ui.selection.lock(Cell(pin.cell));
        ui.commands.send(ShowStep{pin.step == ui.status.step ? -1 : pin.step});
    }
    return pin_menu(ui, pin, index, {line.max.x - ui.px(26), line.min.y - ui.px(2)});
}

}  // namespace

PanelRoom explorer_panel() {
    std::vector<PanelPlace> places;
    for (const Workspace workspace : {Workspace::train, Workspace::biases, Workspace::attention,
                                      Workspace::compare, Workspace::lab})
        places.push_back({workspace, Slot::left, 0});
    return {.info = {"Explorer", "Runs, layers with the norm of their position bias, and pins."},
            .id = "explorer",
            .icon = icon::layers,
            .help =
                "A click on a run opens it, the right button compares it with what is open; a "
                "click on a layer selects it in every view, a click on a pin goes back to its "
                "place and step.",
            .places = places,
            .make = make_panel<ExplorerPanel>};
}

}  // namespace aft::app
