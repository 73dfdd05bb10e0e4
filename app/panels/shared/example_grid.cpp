#include "app/panels/shared/example_grid.h"

#include <fmt/format.h>
#include <imgui_internal.h>

#include <algorithm>
#include <utility>

#include "app/widgets/buttons.h"
#include "app/widgets/tooltip.h"
#include "core/outside.h"
#include "core/text.h"
#include "viz/text_map.h"

namespace aft::app {
namespace {

constexpr int kPictureColumns = 8;
// A side of 64: pictures of 16, 32 and 64 fill it with whole pixels.
constexpr float kPicture = 64, kEdge = 3, kCaption = 18;
// Texts: two lines, three where these are short.
constexpr float kTextsWidth = 720, kTextsHeight = 400, kTextLine = 18, kScrollBar = 16;
constexpr int64_t kFewLetters = 60;

// What the widest index and class of a page take, at most a fifth of the row.
float index_width(const DrawContext& ui, const ExampleGrid::Page& page) {
    float widest = 0;
    for (size_t i = 0; i < page.items.size(); ++i) {
        const int64_t index = page.first + int64_t(i);
        const std::string words =
            page.items[i] ? example_words(page.form, *page.items[i], index) : std::to_string(index);
        widest = std::max(widest, text_extent(ui, words, text_size::label).x);
    }
    return std::min(widest + ui.px(4), ui.px(kTextsWidth / 5)) + ui.px(12);
}

// `count` bytes of a text, one character each: what has none of its own is seen, too.
std::string letters_of(const ExampleForm& form, const DataItem& item, int64_t first,
                       int64_t count) {
    std::string out;
    const int64_t end = std::min(first + count, int64_t(item.tokens.size()));
    for (int64_t i = first; i < end; ++i) {
        const uint8_t token = item.tokens[size_t(i)];
        out += viz::byte_glyph(token < form.alphabet.size() ? form.alphabet[token] : token);
    }
    return out;
}

// Not larger than `side`.
Image shrunk(const Image& image, int64_t side) {
    const int64_t longest = std::max(image.width, image.height);
    if (longest <= side) return image;
    const auto size = [&](int64_t n) { return std::max<int64_t>(1, n * side / longest); };
    return resize_area(image, size(image.width), size(image.height));
}

Image tile_of(const ExampleForm& form, const DataItem& item, int64_t side) {
    const int64_t values = form.height * form.width * form.channels;
    if (values <= 0 || int64_t(item.tokens.size()) != values) return {};
    return shrunk(viz::token_pixels({.tokens = item.tokens,
                                     .height = form.height,
                                     .width = form.width,
                                     .channels = form.channels,
                                     .levels = form.levels}),
                  side);
}

// Every tile in a square of `side`, at its top left.
Image sheet_of(const std::vector<Image>& tiles, int64_t side) {
    const int64_t rows = (int64_t(tiles.size()) + kPictureColumns - 1) / kPictureColumns;
    Image out{side * kPictureColumns, side * rows, 4, {}};
    out.pixels.assign(size_t(out.width * out.height * 4), 0);
    for (size_t i = 0; i < tiles.size(); ++i) {
        const int64_t x = int64_t(i) % kPictureColumns * side;
        const int64_t y = int64_t(i) / kPictureColumns * side;
        const auto line = ptrdiff_t(tiles[i].width) * 4;
        for (int64_t row = 0; row < tiles[i].height; ++row)
            std::copy_n(tiles[i].pixels.begin() + row * line, line,
                        out.pixels.begin() + ((y + row) * out.width + x) * 4);
    }
    return out;
}

}  // namespace

ImVec2 example_texts_size(const DrawContext& ui) {
    constexpr float kBeside = 48, kAbove = 270;  // what else the popup and the window show
    const ImVec2 window = ImGui::GetIO().DisplaySize;
    return {std::max(ui.px(200), std::min(ui.px(kTextsWidth), window.x - ui.px(kBeside))),
            std::max(ui.px(80), std::min(ui.px(kTextsHeight), window.y - ui.px(kAbove)))};
}

int64_t page_first(int64_t index) {
    return std::max<int64_t>(0, index) / kExamplesOfPage * kExamplesOfPage;
}

std::string example_words(const ExampleForm& form, const DataItem& item, int64_t index) {
    if (item.label < 0) return std::to_string(index);
    const auto label = static_cast<size_t>(item.label);
    if (label < form.class_names.size() && !form.class_names[label].empty())
        return fmt::format("{} {}", index, printable_line(form.class_names[label]));
    return fmt::format("{} class {}", index, item.label);
}

// A few each frame: a page of large pictures must not hold one up.
void ExampleGrid::take_new(const DrawContext& ui, const Page& page) {
    constexpr int kMostOfFrame = 8;
    const int side = int(ui.px(kPicture));
    if (side != side_ || drawn_.size() != page.items.size()) {
        side_ = side;
        drawn_.assign(page.items.size(), nullptr);
        tiles_.assign(page.items.size(), {});
    }
    int taken = 0;
    for (size_t i = 0; i < drawn_.size() && taken < kMostOfFrame; ++i) {
        if (drawn_[i] == page.items[i]) continue;
        drawn_[i] = page.items[i];
        tiles_[i] = drawn_[i] ? tile_of(page.form, *drawn_[i], side) : Image{};
        ++taken;
    }
    if (taken > 0) sheet_.set(sheet_of(tiles_, side), ui);
}

void ExampleGrid::draw_picture(const DrawContext& ui, const viz::Box& cell, size_t slot) {
    const Image& tile = tiles_[slot];
    const auto side = float(side_);
    const ImVec2 corner = {cell.low.x + ui.px(kEdge), cell.low.y + ui.px(kEdge)};
    const viz::Box box = {corner, {corner.x + side, corner.y + side}};
    if (tile.pixels.empty() || sheet_.id() == ImTextureID_Invalid) {
        ImGui::GetWindowDrawList()->AddRectFilled(box.low, box.high, ui.theme.field);
        return;
    }
    const auto longest = int(std::max(tile.width, tile.height));
    const auto zoom = float(std::max(1, side_ / longest));
    const ImVec2 size = {zoom * float(tile.width), zoom * float(tile.height)};
    const ImVec2 low = {box.low.x + std::floor((side - size.x) / 2),
                        box.low.y + std::floor((side - size.y) / 2)};
    const size_t rows = (tiles_.size() + kPictureColumns - 1) / kPictureColumns;
    const ImVec2 sheet = {side * kPictureColumns, side * float(rows)};
    const ImVec2 from = {side * float(slot % kPictureColumns),
                         side * float(slot / kPictureColumns)};
    ImGui::GetWindowDrawList()->AddImage(
        sheet_.id(), low, {low.x + size.x, low.y + size.y}, {from.x / sheet.x, from.y / sheet.y},
        {(from.x + float(tile.width)) / sheet.x, (from.y + float(tile.height)) / sheet.y});
}

bool ExampleGrid::draw_cell(DrawContext& ui, const Page& page, size_t slot, const CellSize& of) {
    const ImVec2 size = of.all;
    const int64_t index = page.first + int64_t(slot);
    const auto& item = page.items[slot];
    const bool is_chosen = index == page.chosen;
    const bool is_beside =
        std::find(page.others.begin(), page.others.end(), index) != page.others.end();
    const WidgetPath path = ui.recorder.claim(fmt::format("Example {0}##example_{0}", slot));
    const bool is_pressed =
        ImGui::InvisibleButton(path.id.c_str(), size, ImGuiButtonFlags_EnableNav);
    if (is_chosen) ImGui::SetItemDefaultFocus();
    const viz::Box cell = {ImGui::GetItemRectMin(), ImGui::GetItemRectMax()};
    const std::string words = item ? example_words(page.form, *item, index) : std::to_string(index);
    const std::string text =
        item && page.form.is_text ? letters_of(page.form, *item, 0, of.lines * of.letters) : "";
    const ImU32 ink = is_chosen || is_beside ? ui.theme.text1 : ui.theme.text2;
    if (ImGui::IsItemHovered())
        ImGui::GetWindowDrawList()->AddRectFilled(cell.low, cell.high, ui.theme.field_hover);
    if (page.form.is_text) {
        text_at(ui, {cell.low.x + ui.px(4), cell.low.y + ui.px(3)}, words,
                {text_size::label, ink, Face::regular, of.index - ui.px(12)});
        for (int64_t line = 0; line < of.lines; ++line)
            text_at(ui, {cell.low.x + of.index, cell.low.y + ui.px(3 + float(line) * kTextLine)},
                    item ? letters_of(page.form, *item, line * of.letters, of.letters)
                         : std::string(line == 0 ? "..." : ""),
                    {text_size::label, ui.theme.text1, Face::mono,
                     size.x - of.index});  // a letter of another font may be wider
    } else {
        draw_picture(ui, cell, slot);
        text_at(ui, {cell.low.x + ui.px(kEdge), cell.high.y - ui.px(kCaption)}, words,
                {text_size::hint, ink, Face::regular, size.x - ui.px(kEdge)});
    }
    if (is_chosen || is_beside) viz::draw_ring(ui, cell, ui.theme.accent, is_chosen ? 2.0F : 1.0F);
    ui.recorder.item("button", path,
                     (item ? words : words + ", loading") + (is_beside ? ", chosen" : "") +
                         (text.empty() ? "" : ": " + text));
    tooltip(ui, {.name = words, .sentence = text.empty() ? "A click takes this example." : text});
    return is_pressed;
}

ExampleGrid::CellSize ExampleGrid::text_cell_size(const DrawContext& ui, const Page& page,
                                                  float width) {
    constexpr size_t kMeasured = 64;
    CellSize of;
    of.index = index_width(ui, page);
    const float letter =
        text_extent(ui, std::string(kMeasured, 'M'), text_size::label, Face::mono).x / kMeasured;
    of.letters = std::max<int64_t>(8, int64_t((width - of.index - ui.px(4)) / letter));
    const int64_t most = of.letters < kFewLetters ? 3 : 2;
    int64_t longest = 0;
    for (const auto& item : page.items)
        if (item) longest = std::max(longest, int64_t(item->tokens.size()));
    of.lines =
        longest == 0 ? most : std::clamp<int64_t>((longest + of.letters - 1) / of.letters, 1, most);
    of.all = {width, ui.px(6 + kTextLine * float(of.lines))};
    return of;
}

std::optional<int64_t> ExampleGrid::draw_texts(DrawContext& ui, const Page& page) {
    const ImVec2 size = example_texts_size(ui);
    std::optional<int64_t> taken;
    if (ImGui::BeginChild("texts", size, ImGuiChildFlags_NavFlattened)) {
        const CellSize of = text_cell_size(ui, page, size.x - ui.px(kScrollBar));
        const bool is_other = std::exchange(shown_, page.chosen) != page.chosen;
        for (size_t slot = 0; slot < page.items.size(); ++slot) {
            if (draw_cell(ui, page, slot, of)) taken = page.first + int64_t(slot);
            const bool is_chosen = page.first + int64_t(slot) == page.chosen;
            if (is_other && is_chosen && !ImGui::IsItemVisible()) ImGui::SetScrollHereY();
        }
    }
    ImGui::EndChild();
    ImGui::Dummy({1, ui.px(4)});
    return taken;
}

std::optional<int64_t> ExampleGrid::draw(DrawContext& ui, const Page& page) {
    return page.form.is_text ? draw_texts(ui, page) : draw_pictures(ui, page);
}

std::optional<int64_t> ExampleGrid::draw_pictures(DrawContext& ui, const Page& page) {
    take_new(ui, page);
    CellSize of;
    of.all = {float(side_) + 2 * ui.px(kEdge), float(side_) + ui.px(2 * kEdge + kCaption)};
    const ImVec2 pitch = {of.all.x + ui.px(2), of.all.y + ui.px(2)};
    const ImVec2 start = ImGui::GetCursorScreenPos();
    std::optional<int64_t> taken;
    for (size_t slot = 0; slot < page.items.size(); ++slot) {
        const auto column = float(int(slot) % kPictureColumns);
        const auto row = float(int(slot) / kPictureColumns);
        ImGui::SetCursorScreenPos({start.x + column * pitch.x, start.y + row * pitch.y});
        if (draw_cell(ui, page, slot, of)) taken = page.first + int64_t(slot);
    }
    ImGui::SetCursorScreenPos(start);
    ImGui::Dummy({ui.px(kExampleGridWidth), ui.px(kExampleGridHeight)});
    return taken;
}

int64_t example_pages(DrawContext& ui, int64_t first, int64_t size) {
    const ImGuiID owner = ImGui::GetID("pages");
    for (const ImGuiKey key : {ImGuiKey_PageUp, ImGuiKey_PageDown}) ImGui::SetKeyOwner(key, owner);
    const auto is_key = [&](ImGuiKey key) {
        return !ImGui::GetIO().WantTextInput &&
               ImGui::IsWindowFocused(ImGuiFocusedFlags_ChildWindows) &&
               ImGui::IsKeyPressed(key, ImGuiInputFlags_Repeat, owner);
    };
    const bool has_before = first > 0, has_next = first + kExamplesOfPage < size;
    const int64_t before = std::max<int64_t>(0, first - kExamplesOfPage);
    int64_t shown = first;
    if (button(ui, {.name = "Previous page##previous_page",
                    .icon = icon::step_back,
                    .kind = ButtonKind::icon,
                    .why_not = has_before ? "" : "This is the first page.",
                    .tip = "The examples before these. Key Page Up."}) ||
        (has_before && is_key(ImGuiKey_PageUp)))
        shown = before;
    ImGui::SameLine(0, ui.px(2));
    if (button(ui, {.name = "Next page##next_page",
                    .icon = icon::step,
                    .kind = ButtonKind::icon,
                    .why_not = has_next ? "" : "This is the last page.",
                    .tip = "The examples after these. Key Page Down."}) ||
        (has_next && is_key(ImGuiKey_PageDown)))
        shown = first + kExamplesOfPage;
    ImGui::SameLine(0, ui.px(8));
    const std::string words =
        size <= 0 ? "Reading ..."
                  : fmt::format("{} to {} of {}", group_thousands(first),
                                group_thousands(std::min(size, first + kExamplesOfPage) - 1),
                                group_thousands(size));
    const ImVec2 at = ImGui::GetCursorScreenPos();
    text_at(ui, {at.x, at.y + ui.px(6)}, words, {text_size::label, ui.theme.text2});
    ImGui::Dummy({text_extent(ui, words, text_size::label).x, ui.px(26)});
    ui.recorder.item("value", ui.recorder.claim("Examples##examples"), words);
    return shown;
}

}  // namespace aft::app
