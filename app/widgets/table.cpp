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

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

// What its head and its first cells need.
float least_width(const DrawContext& ui, const Column& column, size_t place,
                  std::span<const TableRow> rows) {
    float least = text_extent(ui, column.title, text_size::hint).x;
    for (const TableRow& row : rows.first(std::min(rows.size(), kMeasuredRows)))
        if (place < row.cells.size())
            least = std::max(least, text_extent(ui, row.cells[place], text_size::body).x);
    return least + ui.px(14);
}

// Those without a width share the rest, alike where each has enough space; where there is too
// little, all give way.
std::vector<float> column_widths(const DrawContext& ui, std::span<const Column> columns,
                                 std::span<const TableRow> rows, float available) {
    std::vector<float> widths, least;
    float shares = 0, widest = 0;
    for (size_t c = 0; c < columns.size(); ++c) {
        least.push_back(least_width(ui, columns[c], c, rows));
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

// Of all columns; `by`: null where the rows cannot be sorted.
void draw_heads(DrawContext& ui, const WidgetName& name, std::span<const PlacedColumn> columns,
                int* by) {
    const ImVec2 head = ImGui::GetCursorScreenPos();
    for (const PlacedColumn& at : columns) {
        const Column& column = *at.column;
        const auto index = int(&at - columns.data());
        const bool is_sorted = by != nullptr && *by == index;
        bool is_hot = false;
        if (by != nullptr && !column.sort_id.empty()) {
            ImGui::SetCursorScreenPos({at.x, head.y});
            if (sort_button(ui, name.with(": by " + column.title, ":by_" + column.sort_id), column,
                            {at.width, ui.px(25)}))
                *by = is_sorted ? -1 : index;
            is_hot = ImGui::IsItemHovered() || ImGui::IsItemFocused();
        }
        draw_cell(ui, column, (is_sorted ? "\u2193 " : "") + column.title,
                  {at.x, at.width, head.y + ui.px(5), text_size::hint,
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
void finish_head(const DrawContext& ui) {
    const float available = ImGui::GetContentRegionAvail().x;
    const ImVec2 head = ImGui::GetCursorScreenPos();
    ImGui::GetWindowDrawList()->AddRectFilled(
        {head.x, head.y + ui.px(25)}, {head.x + available, head.y + ui.px(25) + 1}, ui.theme.line);
    ImGui::Dummy({available, ui.px(26)});
}

}  // namespace

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
    draw_heads(ui, name, at, sorted.by);
    ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(0, 0));
    finish_head(ui);
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
    draw_heads(ui, name, at, lazy.by);
    ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(0, 0));
    finish_head(ui);
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
