#include "app/panels/home/sweep_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "app/panels/home/sweep_plot.h"
#include "app/widgets/buttons.h"
#include "app/widgets/states.h"
#include "app/widgets/table.h"
#include "app/widgets/text.h"
#include "core/caught.h"
#include "core/text.h"
#include "model/system.h"

namespace aft::app {
namespace {

constexpr double kReadSweepAgain = 4;  // seconds, while runs are open
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
    const std::string& folder = ui.selection.sweep.folder;
    const auto newest = work_.latest();
    const bool is_new = asked_ != folder;
    const bool is_open = newest && newest->table.count("open") > 0;
    if (!is_new && is_open) ui.want_frame_at(next_read_);
    if (work_.is_busy()) return ui.want_frame_at(ui.time + 0.05);
    if (!is_new && (!is_open || ui.time < next_read_)) return;
    if (is_new) chosen_.clear();
    asked_ = folder;
    next_read_ = ui.time + kReadSweepAgain;
    work_.start([folder](const auto& publish, const std::stop_token&) {
        SweepAnswer answer{.folder = folder, .problem = {}, .table = {}};
        answer.problem = error_words([&] { answer.table = read_sweep_table(folder); }, plain_words);
        publish(std::move(answer));
    });
    ui.want_frame_at(ui.time + 0.05);
}

std::vector<size_t> SweepPage::order(const SweepTable& table) const {
    std::vector<size_t> order(table.rows.size());
    std::iota(order.begin(), order.end(), size_t{0});
    const auto by = static_cast<size_t>(sorted_by_);
    if (sorted_by_ < 0 || by >= sweep_columns(table).size()) return order;
    std::vector<std::string> keys;
    for (const SweepRow& row : table.rows) keys.push_back(sweep_cells(row).at(by));
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return is_sorted_before(keys[a], keys[b]); });
    return order;
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
                                                      : read.folder;
    text(ui, title, {text_size::title, ui.theme.text1, Face::semibold, width - right - ui.px(16)});
    ImGui::SetCursorPos({at.x + width - right, at.y});
    if (button(ui, close)) ui.selection.sweep = {};
    ImGui::SetCursorPos({at.x, at.y + ui.px(38)});
    hint(ui, "Sweep " + read.folder);
    if (read.problem.empty()) hint(ui, sweep_state_words(table));
}

void SweepPage::draw_table(PaneContext& ui, const SweepTable& sweep) {
    section(ui, "Points##points");
    const std::vector<size_t> places = order(sweep);
    std::vector<TableRow> rows;
    for (const size_t i : places)
        rows.push_back({.name = WidgetName::data(sweep.rows[i].name),
                        .cells = sweep_cells(sweep.rows[i]),
                        .selected = sweep.rows[i].name == chosen_});
    const int pressed =
        table(ui, "Points##points", sweep_columns(sweep), SortedRows{rows, &sorted_by_});
    if (pressed >= 0) chosen_ = sweep.rows[places[size_t(pressed)]].name;
    section(ui, "Means and seeds##plot",
            "dot: mean, line: one standard deviation, rings: seeds, mark: the paper's value");
    if (const int point = draw_sweep_plot(ui, sweep, places); point >= 0)
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
        const auto newest = work_.latest();
        const bool is_there = newest && newest->folder == ui.selection.sweep.folder;
        const SweepAnswer none{.folder = ui.selection.sweep.folder, .problem = {}, .table = {}};
        const SweepAnswer& shown = is_there ? *newest : none;
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
