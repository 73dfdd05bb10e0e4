#include "app/widgets/table.h"

#include <imgui_internal.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>

#include "app/widgets/combo.h"
#include "app/widgets/tooltip.h"
#include "viz/numbers.h"

namespace aft::app {

namespace {

constexpr size_t kMeasuredRows = 40;  // the others are seldom wider
constexpr const char* kSortedMark = "\u2193 ";

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

const std::string& head_words(const Column& column) {
    return column.shown.empty() ? column.title : column.shown;
}

// The end of the neighbours that stand under one group with the column at `from`.
size_t group_end(std::span<const Column> columns, size_t from) {
    size_t end = from + 1;
    while (!columns[from].group.empty() && end < columns.size() &&
           columns[end].group == columns[from].group)
        ++end;
    return end;
}

// Of the line of groups and the line of titles.
float head_height(const DrawContext& ui, std::span<const Column> columns) {
    const bool has_groups = std::any_of(columns.begin(), columns.end(),
                                        [](const Column& one) { return !one.group.empty(); });
    return ui.px(has_groups ? 47 : 25);
}

// What its head and its first cells need.
float least_width(const DrawContext& ui, const Column& column, size_t place,
                  std::span<const TableRow> rows) {
    const std::string mark = column.sort_id.empty() ? "" : kSortedMark;
    float least = text_extent(ui, mark + head_words(column), text_size::hint).x;
    for (const TableRow& row : rows.first(std::min(rows.size(), kMeasuredRows)))
        if (place < row.cells.size())
            least = std::max(least, text_extent(ui, row.cells[place], text_size::body).x);
    return least + ui.px(14);
}

// Of every column; those of a group hold its words, too.
std::vector<float> least_widths(const DrawContext& ui, std::span<const Column> columns,
                                std::span<const TableRow> rows) {
    std::vector<float> least;
    for (size_t c = 0; c < columns.size(); ++c)
        least.push_back(least_width(ui, columns[c], c, rows));
    for (size_t from = 0, end = 0; from < columns.size(); from = end) {
        end = group_end(columns, from);
        const auto first = least.begin() + std::ptrdiff_t(from);
        const auto last = least.begin() + std::ptrdiff_t(end);
        const float words = text_extent(ui, columns[from].group, text_size::hint).x + ui.px(14);
        const float missing = words - std::accumulate(first, last, 0.0f);
        for (auto at = first; at != last; ++at) *at += std::max(0.0f, missing) / float(end - from);
    }
    return least;
}

// Those without a width share the rest, alike where each has enough space; where there is too
// little, all give way.
std::vector<float> column_widths(const DrawContext& ui, std::span<const Column> columns,
                                 std::span<const TableRow> rows, float available) {
    const std::vector<float> least = least_widths(ui, columns, rows);
    std::vector<float> widths;
    float shares = 0, widest = 0;
    for (size_t c = 0; c < columns.size(); ++c) {
        const bool shared = columns[c].width <= 0;
        widths.push_back(shared ? least[c] : ui.px(columns[c].width));
        shares += shared ? 1.0f : 0.0f;
        if (shared) widest = std::max(widest, least[c]);
    }
    const auto sum = [&] { return std::accumulate(widths.begin(), widths.end(), 0.0f); };
    if (sum() > available)
        for (size_t c = 0; c < columns.size(); ++c) widths[c] = std::min(widths[c], least[c]);
    const float extra = available - sum();
    float alike = available;
    for (size_t c = 0; c < columns.size(); ++c) alike -= columns[c].width > 0 ? widths[c] : 0;
    for (size_t c = 0; c < columns.size(); ++c) {
        if (extra < 0)
            widths[c] *= available / (available - extra);
        else if (columns[c].width <= 0)
            widths[c] = alike / shares >= widest ? alike / shares : widths[c] + extra / shares;
    }
    return widths;
}

struct PlacedColumn {
    const Column* column;
    float x, width;  // pixels
};
std::span<const Column> columns_of(std::span<const PlacedColumn> placed) {
    return placed.empty() ? std::span<const Column>() : std::span(placed[0].column, placed.size());
}

struct TableCell {
    float x, width, y, size;
    ImU32 color;
};

void draw_cell(const DrawContext& ui, const Column& column, const std::string& words,
               const TableCell& at) {
    const float pad = ui.px(8);
    if (column.right)
        text_right(ui, {at.x + at.width - pad, at.y}, words, {at.size, at.color});
    else
        text_at(ui, {at.x + pad, at.y}, words, {at.size, at.color, Face::regular, at.width - pad});
}

// Whether it was pressed.
bool sort_button(DrawContext& ui, const WidgetName& name, const Column& column, ImVec2 size) {
    const WidgetPath path = ui.recorder.claim(name);
    const bool is_pressed =
        ImGui::InvisibleButton(path.id.c_str(), size, ImGuiButtonFlags_EnableNav);
    ui.recorder.item("button", path, column.title);
    constexpr const char* kSorts =
        "Sorts by it, the largest first. Again: back to their own order.";
    tooltip(ui, {.name = column.title,
                 .sentence = column.tip.empty() ? kSorts : column.tip + " " + kSorts});
    return is_pressed;
}

// The words over each group of columns, in their middle, and a line that spans them.
void draw_groups(const DrawContext& ui, std::span<const PlacedColumn> at) {
    const std::span<const Column> columns = columns_of(at);
    const float top = ImGui::GetCursorScreenPos().y, pad = ui.px(6);
    for (size_t from = 0, end = 0; from < columns.size(); from = end) {
        end = group_end(columns, from);
        const std::string& words = columns[from].group;
        if (words.empty()) continue;
        const float a = at[from].x + pad, b = at[end - 1].x + at[end - 1].width - pad;
        const float wide = text_extent(ui, words, text_size::hint).x;
        text_at(ui, {std::round((a + b - wide) / 2), top + ui.px(3)}, words,
                {text_size::hint, ui.theme.text3});
        ImGui::GetWindowDrawList()->AddRectFilled({a, top + ui.px(21)}, {b, top + ui.px(21) + 1},
                                                  ui.theme.line);
    }
}

// Of all columns; `by`: null where the rows cannot be sorted.
void draw_heads(DrawContext& ui, const WidgetName& name, std::span<const PlacedColumn> columns,
                int* by) {
    const ImVec2 head = ImGui::GetCursorScreenPos();
    const ImVec2 titles(head.x, head.y + head_height(ui, columns_of(columns)) - ui.px(25));
    for (const PlacedColumn& at : columns) {
        const Column& column = *at.column;
        const auto index = int(&at - columns.data());
        const bool is_sorted = by != nullptr && *by == index;
        bool is_hot = false;
        if (by != nullptr && !column.sort_id.empty()) {
            ImGui::SetCursorScreenPos({at.x, titles.y});
            if (sort_button(ui, name.with(": by " + column.title, ":by_" + column.sort_id), column,
                            {at.width, ui.px(25)}))
                *by = is_sorted ? -1 : index;
            is_hot = ImGui::IsItemHovered() || ImGui::IsItemFocused();
        }
        draw_cell(ui, column, (is_sorted ? kSortedMark : "") + head_words(column),
                  {at.x, at.width, titles.y + ui.px(5), text_size::hint,
                   is_sorted || is_hot ? ui.theme.text1 : ui.theme.text3});
    }
    ImGui::SetCursorScreenPos(head);
}

// Under a head that has been drawn. Index of the row pressed.
int draw_rows(DrawContext& ui, const WidgetName& name, std::span<const PlacedColumn> columns,
              std::span<const TableRow> rows) {
    int pressed = -1;
    for (const TableRow& one : rows) {
        std::string value;
        for (const std::string& cell : one.cells) value += (value.empty() ? "" : " | ") + cell;
        const Row line =
            row(ui, name.with(": " + one.name.words, ":" + one.name.id), {26, one.selected, value});
        if (!one.full.empty()) tooltip(ui, {.name = columns[0].column->title + " " + one.full});
        if (line.pressed) pressed = static_cast<int>(&one - rows.data());
        for (size_t c = 0; c < columns.size() && c < one.cells.size(); ++c)
            draw_cell(ui, *columns[c].column, one.cells[c],
                      {columns[c].x, columns[c].width, line.min.y + ui.px(5), text_size::body,
                       ui.theme.text1});
    }
    return pressed;
}

// NaN where a cell's words are no number.
double number_of(std::string words) {
    const auto replace_all = [&](std::string_view from, std::string_view to) {
        for (size_t at = 0; (at = words.find(from)) != std::string::npos;)
            words.replace(at, from.size(), to);
    };
    replace_all("\u2212", "-");
    for (const char* const dropped : {"\u00D7", "\u202F", "\u2009", "\u00A0"})
        replace_all(dropped, "");
    for (size_t i = 1; i + 1 < words.size(); ++i)  // of "12 345" the space
        if (words[i] == ' ' && is_digit(words[i - 1]) && is_digit(words[i + 1])) words.erase(i, 1);
    double value = NAN;
    const auto [end, error] = std::from_chars(words.data(), words.data() + words.size(), value);
    return error == std::errc() && end == words.data() + words.size() ? value : NAN;
}

// Where its columns stand; `taken` pixels at the right are something else's.
std::vector<PlacedColumn> placed(const DrawContext& ui, std::span<const Column> columns,
                                 std::span<const TableRow> rows, float taken = 0) {
    const std::vector<float> widths =
        column_widths(ui, columns, rows, ImGui::GetContentRegionAvail().x - taken);
    std::vector<PlacedColumn> out;
    float x = ImGui::GetCursorScreenPos().x;
    for (size_t c = 0; c < columns.size(); ++c) {
        out.push_back({&columns[c], x, widths[c]});
        x += widths[c];
    }
    return out;
}

// The line under the head; leaves the cursor at the first row.
void finish_head(const DrawContext& ui, float height) {
    const float available = ImGui::GetContentRegionAvail().x;
    const ImVec2 head = ImGui::GetCursorScreenPos();
    ImGui::GetWindowDrawList()->AddRectFilled(
        {head.x, head.y + height}, {head.x + available, head.y + height + 1}, ui.theme.line);
    ImGui::Dummy({available, height + ui.px(1)});
}

}  // namespace

float least_table_width(const DrawContext& ui, std::span<const Column> columns,
                        std::span<const TableRow> rows) {
    const std::vector<float> least = least_widths(ui, columns, rows);
    return std::accumulate(least.begin(), least.end(), 0.0f);
}

void save_table(const DrawContext& ui, const WidgetName& name, std::span<const Column> columns,
                std::span<const TableRow> rows) {
    if (ui.numbers == nullptr) return;
    NumberTable out{
        .name = {}, .shape = {int64_t(rows.size()), int64_t(columns.size())}, .values = {}};
    for (const Column& column : columns) out.columns.push_back(column.title);
    for (const TableRow& row : rows)
        for (size_t c = 0; c < columns.size(); ++c) {
            out.words.push_back(c < row.cells.size() ? row.cells[c] : std::string());
            if (c == 0 && !row.full.empty()) out.words.back() = row.full;
            const double exact = c < row.values.size() ? row.values[c] : NAN;
            out.values.push_back(std::isnan(exact) ? number_of(out.words.back()) : exact);
        }
    ui.numbers->add(name.id.empty() ? name.words : name.id, std::move(out));
}

int table(DrawContext& ui, const WidgetName& name, std::span<const Column> columns,
          const SortedRows& sorted) {
    save_table(ui, name, columns, sorted.rows);
    const std::vector<PlacedColumn> at = placed(ui, columns, sorted.rows);
    draw_groups(ui, at);
    draw_heads(ui, name, at, sorted.by);
    ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(0, 0));
    finish_head(ui, head_height(ui, columns));
    const int pressed = draw_rows(ui, name, at, sorted.rows);
    ImGui::PopStyleVar();
    return pressed;
}

int table(DrawContext& ui, const WidgetName& name, std::span<const Column> columns,
          std::span<const TableRow> rows) {
    return table(ui, name, columns, SortedRows{rows, nullptr});
}

int table(DrawContext& ui, const WidgetName& name, std::span<const Column> columns,
          const LazyRows& lazy) {
    std::vector<TableRow> first;  // that the widths come from
    for (size_t i = 0; i < std::min(lazy.count, kMeasuredRows); ++i) first.push_back(lazy.row(i));
    const float each = ui.px(26), all = each * float(lazy.count);
    const float most = lazy.most_height > 0 ? ui.px(lazy.most_height) : all;
    const std::vector<PlacedColumn> at =
        placed(ui, columns, first, all > most ? ImGui::GetStyle().ScrollbarSize : 0);
    draw_groups(ui, at);
    draw_heads(ui, name, at, lazy.by);
    ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(0, 0));
    finish_head(ui, head_height(ui, columns));
    int pressed = -1;
    const std::string id = "rows of " + name.id;
    if (ImGui::BeginChild(id.c_str(), {0, std::max(each, std::min(all, most))},
                          ImGuiChildFlags_NavFlattened)) {
        ImGuiListClipper clipper;
        clipper.Begin(int(lazy.count), each);
        while (clipper.Step())
            for (int i = clipper.DisplayStart; i < clipper.DisplayEnd; ++i) {
                const auto place = size_t(i);
                const TableRow one = place < first.size() ? first[place] : lazy.row(place);
                if (draw_rows(ui, name, at, {&one, 1}) == 0) pressed = i;
            }
    }
    ImGui::EndChild();
    ImGui::PopStyleVar();
    return pressed;
}

}  // namespace aft::app
