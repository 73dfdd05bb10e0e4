#include "app/panels/home/sweep_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "app/widgets/buttons.h"
#include "app/widgets/states.h"
#include "app/widgets/text.h"
#include "core/caught.h"
#include "core/text.h"
#include "model/system.h"

namespace aft::app {
namespace {

constexpr double kReadSweepAgain = 2;  // seconds: whether the table is another one
constexpr float kMostTableHeight = 26 * 14.5F;
constexpr const char* kNoNumber = "\u2013";
// Columns behind name and keys: runs, mean, deviation, least, most, paper.
constexpr size_t kSweepNumbers = 6;

std::string known_number(double value) {
    return std::isfinite(value) ? fmt::format("{:.4f}", value) : kNoNumber;
}

std::vector<std::string> sweep_cells(const SweepRow& row) {
    std::vector<std::string> cells = {row.name};
    cells.insert(cells.end(), row.settings.begin(), row.settings.end());
    cells.push_back(std::to_string(row.runs));
    for (const double value : {row.mean, row.deviation, row.least, row.most})
        cells.push_back(known_number(value));
    cells.push_back(row.paper.empty() ? kNoNumber : row.paper);
    return cells;
}

std::vector<Column> sweep_columns(const SweepTable& table) {
    std::vector<Column> columns = {{.title = "Point", .sort_id = "point"}};
    for (const std::string& key : table.keys)
        columns.push_back({.title = key, .right = true, .sort_id = WidgetName::data(key).id});
    const char* const titles[kSweepNumbers][2] = {{"Runs", "runs"},           {"Mean", "mean"},
                                                  {"Deviation", "deviation"}, {"Least", "least"},
                                                  {"Most", "most"},           {"Paper", "paper"}};
    for (const auto& [title, id] : titles)
        columns.push_back({.title = title, .right = true, .sort_id = id});
    return columns;
}

// The largest number first; texts by their letters behind all numbers.
bool is_sorted_before(const std::string& a, const std::string& b) {
    const double x = leading_number(a), y = leading_number(b);
    if (std::isnan(x) != std::isnan(y)) return std::isnan(y);
    return std::isnan(x) ? a < b : x > y;
}

std::string sweep_state_words(const SweepTable& table) {
    std::string words = fmt::format(
        "{} on the {} part: the mean over seeds, its standard deviation (n \u2212 1). {} runs are "
        "done",
        table.metric, table.split.empty() ? "usual" : table.split, table.count("done"));
    if (const int64_t failed = table.count("failed"); failed > 0)
        words += fmt::format(", {} failed", failed);
    if (const int64_t open = table.count("open"); open > 0)
        words += fmt::format(", {} are open", open);
    words += ".";
    if (!table.paper.empty()) words += " Paper: " + table.paper + ".";
    return words;
}

}  // namespace

void SweepPage::read(PaneContext& ui) {
    const SweepChoice& wanted = ui.selection.sweep;
    refresh();
    const bool is_new = asked_ != wanted;
    if (work_.is_busy()) return ui.want_frame_at(ui.time + 0.05);
    if (!is_new && ui.time < next_read_) return ui.want_frame_at(next_read_);
    if (asked_.folder != wanted.folder) chosen_.clear();
    asked_ = wanted;
    next_read_ = ui.time + kReadSweepAgain;
    std::optional<TableStamp> known;  // what is shown is of this one
    if (!is_new && shown_.read && shown_.read->of == wanted) known = shown_.read->stamp;
    work_.start([wanted, known](const auto& publish, const std::stop_token&) {
        SweepAnswer answer{.of = wanted, .stamp = sweep_table_stamp(wanted.folder)};
        if (known == answer.stamp) return;
        answer.problem =
            error_words([&] { answer.table = read_sweep_table(wanted.folder); }, plain_words);
        publish(std::move(answer));
    });
    ui.want_frame_at(ui.time + 0.05);
}

void SweepPage::refresh() {
    const auto newest = work_.latest();
    const bool is_new = newest != shown_.read;
    if (!newest || (!is_new && shown_.sorted_by == sorted_by_)) return;
    if (is_new) {
        shown_ = {.read = newest,
                  .columns = sweep_columns(newest->table),
                  .words = sweep_state_words(newest->table),
                  .span = sweep_plot_span(newest->table)};
    }
    sort();
}

void SweepPage::sort() {
    const std::vector<SweepRow>& rows = shown_.read->table.rows;
    shown_.sorted_by = sorted_by_;
    shown_.order.resize(rows.size());
    std::iota(shown_.order.begin(), shown_.order.end(), size_t{0});
    const auto by = static_cast<size_t>(sorted_by_);
    if (sorted_by_ < 0 || by >= shown_.columns.size()) return;
    std::vector<std::string> keys;
    for (const SweepRow& row : rows) keys.push_back(sweep_cells(row).at(by));
    std::stable_sort(shown_.order.begin(), shown_.order.end(),
                     [&](size_t a, size_t b) { return is_sorted_before(keys[a], keys[b]); });
}

void SweepPage::draw_heading(Ui& ui, const SweepAnswer& read, float width) {
    const ImVec2 at = ImGui::GetCursorPos();
    const SweepTable& table = read.table;
    const Button close{.name = "Close sweep##close_sweep",
                       .icon = icon::close,
                       .tip = "Back to the recent runs.",
                       .shown = "Close"};
    const float right = button_width(ui, close);
    const std::string title = !table.sentence.empty() ? table.sentence
                              : !table.name.empty()   ? table.name
                                                      : read.of.folder;
    text(ui, title, {text_size::title, ui.theme.text1, Face::semibold, width - right - ui.px(16)});
    ImGui::SetCursorPos({at.x + width - right, at.y});
    if (button(ui, close)) {
        ui.selection.sweep.folder.clear();
        asked_ = {};  // it is read again when it is opened again
    }
    ImGui::SetCursorPos({at.x, at.y + ui.px(38)});
    hint(ui, "Sweep " + read.of.folder);
    if (read.problem.empty() && &read == shown_.read.get()) hint(ui, shown_.words);
}

void SweepPage::draw_table(PaneContext& ui, const SweepTable& sweep) {
    section(ui, "Points##points");
    const std::function<TableRow(size_t)> row = [&](size_t place) {
        const SweepRow& one = sweep.rows[shown_.order[place]];
        return TableRow{.name = WidgetName::data(one.name),
                        .cells = sweep_cells(one),
                        .selected = one.name == chosen_};
    };
    const int pressed = table(ui, "Points##points", shown_.columns,
                              LazyRows{.count = shown_.order.size(),
                                       .row = row,
                                       .by = &sorted_by_,
                                       .most_height = kMostTableHeight});
    if (pressed >= 0) chosen_ = sweep.rows[shown_.order[size_t(pressed)]].name;
    section(ui, "Means and seeds##plot",
            "dot: mean, line: one standard deviation, rings: seeds, mark: the paper's value");
    if (const int point = draw_sweep_plot(ui, sweep, shown_.order, shown_.span); point >= 0)
        chosen_ = sweep.rows[size_t(point)].name;
}

void SweepPage::draw_runs(PaneContext& ui, const SweepRow& row, const std::string& metric) {
    section(ui, {"Runs of " + row.name, "runs"}, "a click opens the run");
    const std::vector<Column> columns = {{.title = "Seed", .width = 80},
                                         {.title = "State", .width = 100},
                                         {.title = metric, .width = 140, .right = true},
                                         {.title = "Folder"}};
    std::vector<TableRow> rows;
    for (const SweepSeed& one : row.seeds)
        rows.push_back(
            {.name = {fmt::format("Seed {}", one.seed), fmt::format("seed_{}", one.seed)},
             .cells = {std::to_string(one.seed), one.state, known_number(one.value),
                       one.error.empty() ? one.folder : one.error}});
    const int pressed = table(ui, "Runs##runs", columns, rows);
    if (pressed >= 0) ui.commands.send(OpenPath{row.seeds[size_t(pressed)].folder});
}

void SweepPage::draw(Ui& ui) {
    read(ui);
    const float available = ImGui::GetContentRegionAvail().x;
    const float page = std::min(available - ui.px(32), ui.px(1240));
    ImGui::SetCursorPos({ImGui::GetCursorPosX() + std::floor((available - page) / 2),
                         ImGui::GetCursorPosY() + ui.px(36)});
    if (ImGui::BeginChild("sweep", {page, 0}, ImGuiChildFlags_NavFlattened)) {
        const std::shared_ptr<const SweepAnswer> read = shown_.read;
        const bool is_there = read && read->of == ui.selection.sweep;
        const SweepAnswer none{.of = ui.selection.sweep};
        const SweepAnswer& shown = is_there ? *read : none;
        const float width = ImGui::GetContentRegionAvail().x - ImGui::GetStyle().ScrollbarSize;
        draw_heading(ui, shown, width);
        if (!is_there) hint(ui, "Reading its table.");
        if (!shown.problem.empty())
            banner(ui, {.title = "This sweep's table cannot be read", .sentence = shown.problem});
        if (is_there && shown.problem.empty()) {
            draw_table(ui, shown.table);
            for (const SweepRow& row : shown.table.rows)
                if (row.name == chosen_) draw_runs(ui, row, shown.table.metric);
            if (chosen_.empty()) hint(ui, "Press a point to list its runs.");
        }
    }
    ImGui::EndChild();
}

}  // namespace aft::app
