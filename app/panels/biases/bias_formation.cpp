// Formation: how RMS, entropy and reach of every layer and head came about over the stored steps,
// as a strip each, and by which step half of the change was done.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "app/panels/biases/bias_tools.h"
#include "app/panels/panel.h"
#include "app/panels/shared/formation_choice.h"
#include "app/panels/shared/lock_words.h"
#include "app/panels/shared/step_series.h"
#include "app/panels/shared/tool_row.h"
#include "app/widgets/buttons.h"
#include "app/widgets/states.h"
#include "app/widgets/text.h"
#include "core/half_way.h"
#include "core/text.h"
#include "viz/color_bar.h"
#include "viz/curves.h"
#include "viz/map.h"

namespace aft::app {

PanelRoom bias_formation_panel();

namespace {

constexpr size_t kMostFormationRows = 256;  // more: the mean of each layer's heads
constexpr float kFormationBar = 46, kFormationCurve = 220;
constexpr double kLeastFormationSpan = 0.05;  // of the largest value: noise stays flat

struct FormationRow {
    int64_t layer = 0, head = -1;  // -1: the layer, or the mean of its heads
    size_t first = 0, count = 1;   // its rows in the probe's field
};

class FormationPanel final : public Panel {
  public:
    void draw(Ui& ui) override;
    void inspector(Ui& ui) override;

  private:
    void refresh(PaneContext& ui);
    void make_rows(const Field& field);
    void make_strip();
    void draw_tools(Ui& ui);
    void draw_strip(PaneContext& ui);
    void draw_curve(PaneContext& ui) const;
    void draw_progress(PaneContext& ui);
    void draw_foot(PaneContext& ui);
    [[nodiscard]] size_t chosen(const ViewState& ui) const;
    [[nodiscard]] size_t shown_column(const ViewState& ui) const;
    [[nodiscard]] std::string caption_words(const ViewState& ui, const BiasForm& form) const;
    [[nodiscard]] std::string row_words(size_t row) const;
    [[nodiscard]] std::string number_words(float value, size_t row) const;
    [[nodiscard]] std::string unit_words(const BiasForm& form) const;
    [[nodiscard]] std::string half_words(size_t row) const;

    StepSeries moments_;
    int number_ = 0;
    struct FormationStrip {
        std::vector<int64_t> steps{};
        std::vector<FormationRow> rows{};
        std::vector<float> values{};  // [rows, steps]
        uint64_t version = 0;
        int number = -1;
        std::vector<int> decimals{};  // of each row
    } strip_;
    viz::Map map_;
    viz::MapCell read_{};  // under the pointer
};

void FormationPanel::make_rows(const Field& field) {
    const auto total = size_t(field.shape.at(0));
    strip_.rows.clear();
    int64_t layer = 0;
    size_t first = 0;
    for (const size_t count : formation_heads(field)) {
        if (count == 1 || total > kMostFormationRows) {
            if (count > 0) strip_.rows.push_back({layer, -1, first, count});
        } else {
            for (size_t h = 0; h < count; ++h)
                strip_.rows.push_back({layer, int64_t(h), first + h, 1});
        }
        first += count;
        ++layer;
    }
}

// Of all numbers of a row: so many that the largest one has four digits.
int formation_decimals(std::span<const float> values) {
    float most = 0;
    for (const float value : values)
        if (std::isfinite(value)) most = std::max(most, std::abs(value));
    return most > 0 ? std::clamp(3 - int(std::floor(std::log10(most))), 0, 9) : 4;
}

void FormationPanel::make_strip() {
    strip_.steps.clear();
    for (const auto& [step, fields] : moments_.fields()) strip_.steps.push_back(step);
    strip_.values.assign(strip_.rows.size() * strip_.steps.size(), NAN);
    size_t column = 0;
    for (const auto& [step, fields] : moments_.fields()) {
        const Field& field = fields->fields.front();
        for (size_t r = 0; r < strip_.rows.size(); ++r) {
            const FormationRow& row = strip_.rows[r];
            double sum = 0;
            for (size_t i = row.first; i < row.first + row.count; ++i)
                sum += field.values.at(i * kFormationNumbers + size_t(number_));
            strip_.values[r * strip_.steps.size() + column] = float(sum / double(row.count));
        }
        ++column;
    }
    strip_.number = number_;
    strip_.decimals.clear();
    const size_t n = strip_.steps.size();
    for (size_t r = 0; r < strip_.rows.size(); ++r)
        strip_.decimals.push_back(
            kFormation[number_].is_share
                ? 2
                : formation_decimals(std::span(strip_.values).subspan(r * n, n)));
    ++strip_.version;
}

void FormationPanel::refresh(PaneContext& ui) {
    ProbeRequest request;
    request.probe = "formation";
    const bool is_new = moments_.update(ui, request);
    if (is_new || strip_.number != number_) {
        if (moments_.fields().empty())
            strip_.rows.clear();
        else
            make_rows(moments_.fields().begin()->second->fields.front());
        make_strip();
    }
}

bool has_curve(const DrawContext& ui) {
    return canvas_height(ui) > ui.px(2 * kFormationCurve);
}

size_t FormationPanel::chosen(const ViewState& ui) const {
    const Cell& cell = ui.selection.cell;
    for (size_t r = 0; r < strip_.rows.size(); ++r) {
        const FormationRow& row = strip_.rows[r];
        if (row.layer == cell.layer &&
            (row.head < 0 || row.head == std::max<int64_t>(0, cell.head)))
            return r;
    }
    return 0;
}

// That of the shown step, else of the last one.
size_t FormationPanel::shown_column(const ViewState& ui) const {
    const auto at = std::find(strip_.steps.begin(), strip_.steps.end(), ui.shown_step());
    return at == strip_.steps.end() ? strip_.steps.size() - 1 : size_t(at - strip_.steps.begin());
}

std::string FormationPanel::row_words(size_t row) const {
    const FormationRow& of = strip_.rows[row];
    if (of.head >= 0) return fmt::format("layer {}, head {}", of.layer, of.head);
    return fmt::format("layer {}{}", of.layer, of.count > 1 ? ", mean of its heads" : "");
}

std::string FormationPanel::number_words(float value, size_t row) const {
    if (!std::isfinite(value)) return "\u2013";
    const int decimals = strip_.decimals.at(row);
    return kFormation[number_].is_share ? plain_number(100 * value, decimals) + " %"
                                        : plain_number(value, decimals);
}

// "half of its change by step 200, 0.02 to 3.41"
std::string FormationPanel::half_words(size_t row) const {
    const size_t n = strip_.steps.size();
    const std::span<const float> series = std::span(strip_.values).subspan(row * n, n);
    const auto half = half_way(series);
    const size_t missing = moments_.error().empty() ? moments_.missing() : 0;
    // The newest one comes while training continues.
    if (missing > 1 || (missing > 0 && moments_.is_paused())) return "not all steps are read yet";
    const std::string first = number_words(series.front(), row);
    const std::string last = number_words(series.back(), row);
    const bool is_still = first == last;
    if (missing > 0 && (!half || is_still)) return "the last step is being read";
    if (!half) return "it does not change";
    if (is_still) return "it hardly changes: " + last;
    return fmt::format("half of its change by step {}, {} to {}",
                       group_thousands(strip_.steps[*half]), first, last);
}

std::string FormationPanel::unit_words(const BiasForm& form) const {
    return number_ == 0 ? rms_pairs(form.is_kernel()) : kFormation[number_].unit;
}

void FormationPanel::draw_tools(Ui& ui) {
    (void)formation_choice(ui, number_);
    if (ui.status.path.empty()) return;
    ImGui::SameLine(0, ui.px(12));
    copy_command_button(ui,
                        {fmt::format("afterimage probe formation {} --moments -o formation.csv",
                                     shell_word(ui.status.path)),
                         ""},
                        "Copies the command that writes all four numbers of all stored steps.");
}

void FormationPanel::draw_strip(PaneContext& ui) {
    const size_t n = strip_.steps.size();
    viz::MapView view;
    view.id = "formation";
    view.data = {.values = strip_.values,
                 .rows = int64_t(strip_.rows.size()),
                 .columns = int64_t(n),
                 .hidden = {},
                 .version = strip_.version};
    Range range = value_range(strip_.values, 100, false);
    if (number_ == 0) range.low = 0;
    view.coloring = {range, Scale::linear, Colormap::viridis};
    view.area = {ImGui::GetContentRegionAvail().x,
                 std::max(ui.px(40), canvas_height(ui) - ui.px(kFormationBar) -
                                         (has_curve(ui) ? ui.px(kFormationCurve) : 0))};
    view.free_axes = true;
    view.max_fit = 64;
    view.numbers = false;
    view.row_label = [&](int64_t r) {
        const FormationRow& row = strip_.rows[size_t(r)];
        return row.head < 0 ? fmt::format("L{}", row.layer)
                            : fmt::format("L{} h{}", row.layer, row.head);
    };
    view.column_label = [&](int64_t c) { return group_thousands(strip_.steps[size_t(c)]); };
    view.column_step = std::max<int64_t>(1, int64_t(n) / 8);
    view.target = {int64_t(chosen(ui)), int64_t(shown_column(ui))};
    view.row_band = true;
    const viz::MapReply reply = map_.draw(view, ui);
    ui.recorder.area({.kind = "map",
                      .path = ui.recorder.claim("Formation##formation"),
                      .min = reply.map.low,
                      .max = reply.map.high,
                      .value = fmt::format("{} rows, {} steps", strip_.rows.size(), n),
                      .why_not = {}});
    read_ = reply.hovered;
    if (reply.clicked.is_valid()) {
        const FormationRow& pressed = strip_.rows[size_t(reply.clicked.row)];
        ui.selection.cell.layer = pressed.layer;
        if (pressed.head >= 0) ui.selection.cell.head = pressed.head;
        ui.commands.send(ShowStep{strip_.steps[size_t(reply.clicked.column)]});
    }
    // It begins where the map does.
    ImGui::SetCursorScreenPos({reply.map.low.x, ImGui::GetCursorScreenPos().y});
    viz::ColorBarView bar;
    bar.id = "formation bar";
    bar.coloring = view.coloring;
    bar.width = std::min(ImGui::GetContentRegionAvail().x, ui.px(360));
    bar.percent = kFormation[number_].is_share;
    bar.can_drag = false;
    if (read_.is_valid()) bar.marker = view.data.at(read_.row, read_.column);
    (void)draw_color_bar(bar, ui);
}

// The chosen row over the steps, to scale.
void FormationPanel::draw_curve(PaneContext& ui) const {
    const float tall = canvas_height(ui) - ui.px(20);
    if (tall < ui.px(120)) return;
    const size_t n = strip_.steps.size(), row = chosen(ui);
    const std::span<const float> series = std::span(strip_.values).subspan(row * n, n);
    const std::vector<double> steps(strip_.steps.begin(), strip_.steps.end());
    std::vector<double> values(series.begin(), series.end());
    const bool is_share = kFormation[number_].is_share;
    double most = 0;
    for (double& value : values) {
        value *= is_share ? 100 : 1;
        if (std::isfinite(value)) most = std::max(most, std::abs(value));
    }
    viz::CurvePlot plot;
    plot.id = "##formation_curve";
    plot.title =
        fmt::format("{}{} over training", kFormation[number_].words, is_share ? ", %" : "");
    plot.unit = row_words(row);
    plot.size = {ImGui::GetContentRegionAvail().x, std::min(tall, ui.px(320))};
    plot.now = double(ui.shown_step());
    plot.least_y_span = kLeastFormationSpan * most;
    plot.curves = {{.x = steps,
                    .y = values,
                    .color = ui.theme.series[0],
                    .dots = n <= 64,
                    .decimals = strip_.decimals[row]}};
    ImGui::Dummy({1, ui.px(8)});
    const viz::CurveReply reply = draw_curves(plot, ui);
    if (reply.clicked) ui.commands.send(ShowStep{std::llround(*reply.clicked)});
}

void FormationPanel::draw_foot(PaneContext& ui) {
    const bool is_over = read_.is_valid() && size_t(read_.row) < strip_.rows.size() &&
                         size_t(read_.column) < strip_.steps.size();
    const size_t row = is_over ? size_t(read_.row) : chosen(ui), n = strip_.steps.size();
    const size_t column = is_over ? size_t(read_.column) : n - 1;
    const float value = strip_.values[row * n + column];
    const FormationRow& of = strip_.rows[row];
    std::vector<ReadOut> values = {{"layer", std::to_string(of.layer)}};
    if (of.head >= 0 || of.count > 1)
        values.push_back({"head", of.head >= 0 ? std::to_string(of.head) : "mean of all"});
    values.insert(values.end(),
                  {{"step", group_thousands(strip_.steps[column])},
                   {kFormation[number_].words, number_words(value, row), exact_number(value)},
                   {"", half_words(row)}});
    hover_line(ui, values, "A cell selects its layer and head, and shows its step");
}

// Cancel ends it after the step that is being read; the others can be read later.
void FormationPanel::draw_progress(PaneContext& ui) {
    const size_t there = moments_.fields().size(), all = ui.history.size();
    if (!moments_.is_paused()) {
        const std::string words = fmt::format("Reading step {} of {}", there + 1, all);
        if (progress_line(ui, words, double(there) / double(all), true)) moments_.pause(true);
        return;
    }
    inline_label(ui, fmt::format("{} of {} steps read.", there, all));
    if (button(ui, {.name = "Read the others##read_others",
                    .kind = ButtonKind::ghost,
                    .tip = "Reads the stored steps that are not here yet."}))
        moments_.pause(false);
}

// The chosen row: where it began, where it is, where it ended.
void FormationPanel::inspector(Ui& ui) {
    if (!is_front() || !ui.has_model() || strip_.rows.empty()) return;
    const size_t n = strip_.steps.size(), row = chosen(ui);
    if (n == 0) return;
    const size_t shown = shown_column(ui);
    const std::span<const float> series = std::span(strip_.values).subspan(row * n, n);
    section(ui, "Selection##selection", row_words(row), false);
    text(ui, kFormation[number_].words, {text_size::label, ui.theme.text2});
    const size_t half = half_way(series).value_or(0);
    std::map<size_t, const char*> lines;  // each step once
    lines.emplace(n - 1, "last");
    lines.emplace(0, "first");
    lines.emplace(shown, "shown");
    if (moments_.missing() == 0) lines.emplace(half, "half");
    for (const auto& [column, id] : lines)
        key_value(ui, {"Step " + group_thousands(strip_.steps[column]), id},
                  number_words(series[column], row));
    hint(ui, half_words(row));
}

std::string FormationPanel::caption_words(const ViewState& ui, const BiasForm& form) const {
    const size_t row = chosen(ui);
    return fmt::format("{}, {}  \u00B7  {}: {}  \u00B7  {}", kFormation[number_].words,
                       unit_words(form), row_words(row), half_words(row),
                       step_words(ui, moments_.fields().at(strip_.steps[shown_column(ui)])));
}

void FormationPanel::draw(Ui& ui) {
    const BiasForm form(ui.status);
    if (bias_state(ui, form)) return;
    refresh(ui);
    if (ui.history.size() < 2)
        return empty_state(ui, {.drawing = Drawing::curve,
                                .title = "One stored step so far",
                                .sentence = "Biases are stored while a run trains; from the second "
                                            "stored step on this shows how they came about.",
                                .primary = {},
                                .secondary = {},
                                .hint = {}});
    draw_tools(ui);
    const bool has_strip = strip_.steps.size() > 1 && !strip_.rows.empty();
    caption(ui, "Formation of the position biases", has_strip ? caption_words(ui, form) : "");
    if (!moments_.error().empty())
        banner(ui, {.title = "A stored bias could not be read", .sentence = moments_.error()});
    if (moments_.missing() > 0 && moments_.error().empty()) draw_progress(ui);
    if (!has_strip) return;
    draw_strip(ui);
    draw_curve(ui);
    draw_foot(ui);
}

}  // namespace

PanelRoom bias_formation_panel() {
    return {.info = {"Formation", "when RMS, entropy and reach of every head came about"},
            .id = "formation",
            .icon = icon::chart,
            .help =
                "One row per layer and head, one column per stored step. A row that changes "
                "its colour late formed late; the caption says by which step half of the "
                "chosen one's change was done. All numbers are of the bias alone (K = 0). A "
                "cell selects its layer and head in all views and shows its step.",
            .places = {{Workspace::biases, Slot::canvas, 4}},
            .make = make_panel<FormationPanel>};
}

}  // namespace aft::app
