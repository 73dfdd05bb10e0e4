#include "viz/text_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "viz/numbers.h"
#include "viz/text.h"

namespace aft::viz {
namespace {

constexpr TextStyle kCharacter{.size = 15, .face = Face::mono, .align = Align::centre};

bool is_space(uint8_t byte) {
    return byte == ' ' || byte == '\n' || byte == '\t' || byte == '\r';
}

// Bytes up to the next space, from `i` on.
int64_t word_length(std::span<const uint8_t> bytes, size_t i) {
    size_t end = i;
    while (end < bytes.size() && !is_space(bytes[end])) ++end;
    return static_cast<int64_t>(end - i);
}

ImU32 ground_color(const Coloring& k, float value) {
    const Rgb c = map_color(value, k.range, k.scale, k.map);
    return IM_COL32(c[0], c[1], c[2], 255);
}

// Within its cell from left to right, but for its rim: the characters beside it touch.
void draw_rings(const TextMapView& view, const Look& look, const TextLayout& layout,
                const TextGrid& grid) {
    const auto ring = [&](int64_t i, ImU32 color, float width) {
        if (i < 0 || size_t(i) >= layout.places.size()) return;
        const auto& place = layout.places[size_t(i)];
        if (place.row < grid.begin || place.row >= grid.end) return;
        Box box = grid.box(place);
        const float line = look.px(1);
        box.low.x += line;
        box.high.x -= line;
        draw_open_ring(look, box, color, 1);
        if (width <= 1) return;
        // Thicker above and below alone: the character has no space to spare at its sides.
        box.low.y -= line;
        box.high.y += line;
        draw_open_ring(look, box, color, 1);
    };
    ring(view.source, rgb(0xFFFFFF), 1);
    ring(view.target, look.theme.accent, 2);
}

}  // namespace

Box TextGrid::box(const MapCell& from, int64_t columns) const {
    const ImVec2 low = {first.x + cell.x * float(from.column), first.y + cell.y * float(from.row)};
    return {low, {low.x + cell.x * float(columns), low.y + cell.y}};
}

int64_t TextLayout::at(const MapCell& cell) const {
    if (cell.row < 0 || cell.column < 0 || cell.row >= rows || cell.column >= columns) return -1;
    return index[static_cast<size_t>(cell.row * columns + cell.column)];
}

TextLayout lay_out_text(std::span<const uint8_t> bytes, int64_t columns) {
    TextLayout out;
    out.columns = std::max<int64_t>(1, columns);
    MapCell pen{0, 0};
    const auto next_line = [&] { pen = {pen.row + 1, 0}; };
    for (size_t i = 0; i < bytes.size(); ++i) {
        const bool begins = !is_space(bytes[i]) && (i == 0 || is_space(bytes[i - 1]));
        const int64_t length = begins ? word_length(bytes, i) : 1;
        // The last column is for the space or line end behind a full line.
        const int64_t available =
            is_space(bytes[i]) ? out.columns : std::max<int64_t>(1, out.columns - 1);
        if (pen.column > 0 && pen.column + length > available && length <= available) next_line();
        if (pen.column >= available) next_line();
        out.places.push_back(pen);
        out.rows = pen.row + 1;
        ++pen.column;
        if (bytes[i] == '\n') next_line();
    }
    out.index.assign(static_cast<size_t>(out.rows * out.columns), -1);
    for (size_t i = 0; i < out.places.size(); ++i)
        out.index[static_cast<size_t>(out.places[i].row * out.columns + out.places[i].column)] =
            static_cast<int64_t>(i);
    return out;
}

std::string byte_glyph(uint8_t byte) {
    if (byte == '\n') return "\u21B5";
    if (byte == '\t') return "\u2192";
    return byte >= 32 && byte < 127 ? std::string(1, char(byte)) : std::string("\u00B7");
}

std::string byte_words(uint8_t byte) {
    if (byte == '\n') return "newline 0x0A";
    if (byte == '\t') return "tab 0x09";
    if (byte == ' ') return "space 0x20";
    return byte > 32 && byte < 127 ? fmt::format("'{}' 0x{:02X}", char(byte), byte)
                                   : fmt::format("0x{:02X}", byte);
}

ImVec2 text_cell(const Look& look) {
    const ImVec2 size = text_extent(look, "M", kCharacter);
    return {std::ceil(size.x) + look.px(1), look.px(20)};
}

float text_height(std::span<const uint8_t> bytes, ImVec2 available, const Look& look) {
    const ImVec2 cell = text_cell(look);
    const auto rows = float(lay_out_text(bytes, int64_t(available.x / cell.x)).rows);
    return cell.y * std::clamp(rows, 1.0F, std::max(1.0F, std::floor(available.y / cell.y)));
}

void TextMap::lay_out(const TextMapView& view, const Look& look) {
    const ImVec2 cell = text_cell(look);
    const auto fits = [&](float width) { return static_cast<int64_t>(width / cell.x); };
    TextLayout layout = lay_out_text(view.bytes, fits(view.area.x));
    if (float(layout.rows) * cell.y > view.area.y)
        layout = lay_out_text(view.bytes, fits(view.area.x - ImGui::GetStyle().ScrollbarSize));
    const bool same_bytes =
        std::equal(view.bytes.begin(), view.bytes.end(), bytes_.begin(), bytes_.end());
    const bool is_same = same_bytes && layout.columns == layout_.columns;
    layout_ = std::move(layout);
    if (is_same && view.version == version_) return;
    version_ = view.version;
    bytes_.assign(view.bytes.begin(), view.bytes.end());
    ++laid_out_;
    values_.assign(layout_.index.size(), 0);
    hidden_.assign(layout_.index.size(), 1);
    for (size_t i = 0; i < layout_.index.size(); ++i) {
        const int64_t byte = layout_.index[i];
        if (byte < 0 || size_t(byte) >= view.values.size()) continue;
        values_[i] = view.values[size_t(byte)];
        hidden_[i] = size_t(byte) < view.hidden.size() ? view.hidden[size_t(byte)] : 0;
        if (hidden_[i] != 0 && size_t(byte) < view.masked.size() && view.masked[size_t(byte)] != 0)
            hidden_[i] = 2;
    }
}

// A scroll that this text did not set itself is the user's: the others follow it.
void TextMap::follow(const TextMapView& view, float row_height) {
    float own = 0;
    float& shared = view.scroll != nullptr ? *view.scroll : own;
    const float now = ImGui::GetScrollY();
    if (now != seen_ || view.scroll == nullptr) shared = now;
    if (view.target != target_ && view.target >= 0 && size_t(view.target) < layout_.places.size()) {
        const float y = float(layout_.places[size_t(view.target)].row) * row_height;
        if (y < shared || y + row_height > shared + view.area.y)
            shared = std::max(0.0F, y + (row_height - view.area.y) / 2);
    }
    target_ = view.target;
    const float last = std::max(0.0F, float(layout_.rows) * row_height - view.area.y);
    shared = std::round(std::clamp(shared, 0.0F, last));
    if (shared != now) ImGui::SetScrollY(shared);
    seen_ = shared;
}

void TextMap::draw_ground(const TextMapView& view, const Look& look, const TextGrid& grid) {
    tiles_.resize(1, layout_.rows, layout_.columns);
    tiles_.set(0, {values_, layout_.rows, layout_.columns, hidden_, laid_out_}, view.coloring,
               look);
    for (int64_t row = grid.begin; row < grid.end; ++row)
        for (int64_t column = 0; column < layout_.columns;) {
            int64_t stop = column;  // one hatch per run of bytes that are hidden alike
            const uint8_t how = hidden_[size_t(row * layout_.columns + column)];
            while (how != 0 && layout_.at({row, stop}) >= 0 &&
                   hidden_[size_t(row * layout_.columns + stop)] == how)
                ++stop;
            const Box box = grid.box({row, column}, stop - column);
            if (stop > column) how == 2 ? draw_mask_hatch(look, box) : draw_hatch(look, box);
            if (stop > column && look.theme.is_outlined())  // its strong lines would cross the text
                ImGui::GetWindowDrawList()->AddRectFilled(
                    box.low, box.high, with_alpha(look.theme.hatch_ground, 0.65F));
            column = std::max(stop, column + 1);
        }
    if (tiles_.texture() == ImTextureID_Invalid) return;
    const Box uv =
        tiles_.uv(0, {{0, float(grid.begin)}, {float(layout_.columns), float(grid.end)}});
    const Box all = {grid.box({grid.begin, 0}).low,
                     grid.box({grid.end - 1, layout_.columns - 1}).high};
    ImGui::GetWindowDrawList()->AddImage(tiles_.texture(), all.low, all.high, uv.low, uv.high);
}

void TextMap::draw_characters(const TextMapView& view, const Look& look, const TextGrid& grid) {
    for (int64_t row = grid.begin; row < grid.end; ++row)
        for (int64_t column = 0; column < layout_.columns; ++column) {
            const int64_t i = layout_.at({row, column});
            if (i < 0) continue;
            const auto at = size_t(row * layout_.columns + column);
            TextStyle style = kCharacter;
            style.color = hidden_[at] != 0 ? look.theme.text3
                                           : ink_on(ground_color(view.coloring, values_[at]));
            const Box box = grid.box({row, column});
            text_at(look, {(box.low.x + box.high.x) / 2, box.low.y + look.px(2)},
                    byte_glyph(view.bytes[size_t(i)]), style);
        }
}

TextMapReply TextMap::draw(const TextMapView& view, const Look& look) {
    TextMapReply reply;
    if (look.numbers != nullptr)
        look.numbers->add(view.id, {.name = {},
                                    .shape = {int64_t(view.values.size())},
                                    .values = {view.values.begin(), view.values.end()}});
    const ImVec2 at = ImGui::GetCursorScreenPos(), cell = text_cell(look);
    reply.box = {at, {at.x + view.area.x, at.y + view.area.y}};
    lay_out(view, look);
    // The child is larger than the text, which it would else cut the rings of at its edges.
    const float out = look.px(2) + look.px(1);
    ImGui::SetCursorScreenPos({at.x - out, at.y - out});
    ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(out, out));
    if (ImGui::BeginChild(view.id, {view.area.x + 2 * out, view.area.y + 2 * out},
                          ImGuiChildFlags_AlwaysUseWindowPadding)) {
        follow(view, cell.y);
        const ImVec2 first = ImGui::GetCursorScreenPos();
        ImGui::PushClipRect(reply.box.low, reply.box.high, true);
        ImGui::InvisibleButton("text", {cell.x * float(layout_.columns),
                                        std::max(1.0F, cell.y * float(layout_.rows))});
        reply.id = ImGui::GetItemID();
        if (ImGui::IsItemHovered()) {
            const ImVec2 mouse = ImGui::GetIO().MousePos;
            reply.hovered = layout_.at(
                {int64_t((mouse.y - first.y) / cell.y), int64_t((mouse.x - first.x) / cell.x)});
        }
        if (ImGui::IsItemClicked()) reply.clicked = reply.hovered;
        const auto row_at = [&](float y) {
            return std::clamp<int64_t>(int64_t((y - first.y) / cell.y), 0, layout_.rows);
        };
        const TextGrid grid{first, cell, row_at(at.y),
                            std::min(row_at(at.y + view.area.y) + 1, layout_.rows)};
        if (grid.end > grid.begin) draw_ground(view, look, grid);
        ImGui::PopClipRect();
        draw_rings(view, look, layout_, grid);  // the edges of the text do not cut them
        ImGui::PushClipRect(reply.box.low, reply.box.high, true);
        draw_characters(view, look, grid);
        ImGui::PopClipRect();
    }
    ImGui::EndChild();
    ImGui::PopStyleVar();
    ImGui::SetCursorScreenPos(at);
    ImGui::Dummy(view.area);
    return reply;
}

}  // namespace aft::viz
