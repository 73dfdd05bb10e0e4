#include "app/panels/compare/compare_maps.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "app/panels/compare/compare_read_out.h"
#include "app/panels/shared/bias_axes.h"
#include "app/panels/shared/bias_values.h"
#include "app/panels/shared/zoom_words.h"
#include "app/widgets/buttons.h"
#include "core/text.h"
#include "viz/color_bar.h"
#include "viz/label_color.h"

namespace aft::app {

namespace {

constexpr float kMapTitle = 28, kGap = 16, kBar = 80;  // pixels at scale 1
constexpr float kLowArea = 300, kLowBar = 44;          // below the first: no histogram
constexpr float kAboveBar = 42;                        // with its histogram
constexpr const char* kAllZero = "0 everywhere";

ImU32 letter_color(const Theme& theme, size_t slot) {
    return viz::label_color(theme, theme.series[slot % theme.series.size()]);
}

// A range of nothing but 0 would be made up: one colour, and what it stands for.
void draw_zero_bar(const DrawContext& ui, const Coloring& coloring, ImVec2 at, float width) {
    const Rgb zero = map_color(0, coloring.range, coloring.scale, coloring.map);
    const ImVec2 high = {at.x + width, at.y + ui.px(12)};
    ImDrawList* const list = ImGui::GetWindowDrawList();
    list->AddRectFilled(at, high, IM_COL32(zero[0], zero[1], zero[2], 255));
    list->AddRect(at, high, ui.theme.line);
    text_at(ui, {at.x, high.y + ui.px(4)}, kAllZero, {text_size::hint, ui.theme.text3});
    ImGui::SetCursorScreenPos(at);
    ImGui::Dummy({width, ui.px(32)});
}

// At the right end of a title; returns where the words before it end.
float draw_mask_words(const DrawContext& ui, const BiasMap& map, ImVec2 at, float right) {
    if (map.masked.empty() && map.partly.empty()) return right;
    const char* const words = right - at.x < ui.px(360) ? "masked" : kMaskedWords;
    const float x = right - text_extent(ui, words, text_size::hint).x;
    const viz::Box box = {{x - ui.px(32), at.y + ui.px(3)}, {x - ui.px(8), at.y + ui.px(15)}};
    viz::draw_mask_hatch(ui, box);
    text_at(ui, {x, at.y + ui.px(0.5F)}, words, {text_size::hint, ui.theme.text2});
    return box.low.x - ui.px(8);
}

}  // namespace

MapColumns map_columns(const DrawContext& ui, size_t count, float all) {
    const float gap = ui.px(kGap);
    return {.width = std::floor((all - gap * float(count - 1)) / float(count)), .gap = gap};
}

void CompareMaps::draw_title(PaneContext& ui, const CompareSlots& slots, const ShownMaps& shown,
                             const MapColumn& column) {
    const ComparedPicture& picture = pictures_.all()[column.picture];
    const SlotMap& map = shown.at(picture.slot);
    const float y = column.at.y + ui.px(5), right = column.at.x + column.size.x;
    const ImU32 ink = picture.is_pair() ? ui.theme.text1 : letter_color(ui.theme, picture.slot);
    std::string title = picture.title, note = picture.note, beyond;
    if (picture.kind == ComparedPicture::split) {
        title += " | ";
        beyond = slots.at(picture.other).letter;
        note = slots.at(picture.slot).words() + " | " + slots.at(picture.other).words();
    } else if (!picture.is_pair()) {
        note = map_note(slots.at(picture.slot), map);
    }
    const float end = draw_mask_words(ui, picture.map, {column.at.x, y}, right);
    float used = 0;
    const auto write = [&](const std::string& words, ImU32 color) {
        text_at(ui, {column.at.x + used, y}, words, {text_size::label, color, Face::semibold});
        used += text_extent(ui, words, text_size::label, Face::semibold).x;
    };
    write(title, ink);
    write(beyond, letter_color(ui.theme, picture.other));
    text_at(ui, {column.at.x + used + ui.px(8), y + ui.px(0.5F)}, note,
            {text_size::hint, ui.theme.text2, Face::regular,
             std::max(1.0F, end - column.at.x - used - ui.px(8))});
    ui.recorder.area({.kind = "caption",
                      .path = ui.recorder.claim(fmt::format("Title {0}##title_{0}", column.place)),
                      .min = column.at,
                      .max = {right, column.at.y + ui.px(kMapTitle)},
                      .value = title + beyond + "  " + note,
                      .why_not = {}});
}

void CompareMaps::draw_problem(PaneContext& ui, CompareSlots& slots, const MapColumn& column) {
    const ComparedPicture& picture = pictures_.all()[column.picture];
    const std::string words = picture.problem.empty()
                                  ? slots.is_reading() ? slots.reading_words() : "Reading"
                                  : picture.problem;
    const viz::Box box = {{column.at.x, column.at.y + ui.px(kMapTitle)},
                          {column.at.x + column.size.x, column.at.y + column.size.y}};
    ImGui::GetWindowDrawList()->AddRect(box.low, box.high, ui.theme.line);
    ImGui::SetCursorScreenPos({box.low.x + ui.px(12), box.low.y + ui.px(12)});
    ImGui::BeginGroup();
    ImGui::PushTextWrapPos(ImGui::GetCursorPosX() + std::max(ui.px(40), box.width() - ui.px(24)));
    const bool is_awaited = picture.problem.empty();
    text(ui, words,
         {is_awaited ? text_size::hint : text_size::label,
          is_awaited ? ui.theme.text3 : ui.theme.text2});
    ImGui::PopTextWrapPos();
    const ComparedSlot& slot = slots.at(picture.slot);
    const bool has_failed = picture.kind == ComparedPicture::values && slot.has_bias() &&
                            !slot.choice.is_open() && !picture.problem.empty();
    if ((!slot.error.empty() || has_failed) &&
        button(ui, {.name = fmt::format("Read again##read_again_{}", column.place),
                    .icon = icon::refresh,
                    .tip = "Looks at the file once more."}))
        slots.read_again(picture.slot);
    ImGui::EndGroup();
    ui.recorder.area(
        {.kind = "hint",
         .path = ui.recorder.claim(fmt::format("No map {0}##no_map_{0}", column.place)),
         .min = box.low,
         .max = box.high,
         .value = words,
         .why_not = {}});
}

void CompareMaps::link(const ViewState& ui, size_t place) {
    if (!ui.selection.compare.links_zoom) return;
    const viz::MapViewport now = maps_[place].viewport();
    for (viz::Map& map : maps_) map.set_viewport(now);
}

void CompareMaps::take_pointer(ViewState& ui, const BiasForm& form, const ComparedPicture& picture,
                               const viz::MapReply& reply) {
    const Blocks block = picture.map.block;
    const auto cell_of = [&](viz::MapCell at) {
        const int64_t head = form.heads > 1 ? std::max<int64_t>(0, ui.selection.cell.head) : -1;
        return form.cell(ui.selection.cell.layer, head, at.row * block.rows,
                         at.column * block.columns);
    };
    if (reply.hovered.is_valid()) ui.selection.point(cell_of(reply.hovered));
    if (reply.clicked.is_valid()) ui.selection.lock(cell_of(reply.clicked));
    const float wheel = ImGui::GetIO().MouseWheel;
    if (reply.zoomed && wheel > 0 && !block.is_single()) {  // into the cells of the blocks
        exact_ = true;
        for (viz::Map& map : maps_) {
            map.set_zoom(1);
            map.show({reply.hovered.row * block.rows, reply.hovered.column * block.columns});
        }
    } else if (reply.zoomed && wheel < 0 && exact_ && reply.zoom.least() <= 1) {
        fit();
    }
}

void CompareMaps::draw_map(PaneContext& ui, const CompareSlots& slots, const ShownMaps& shown,
                           const MapColumn& column) {
    const ComparedPicture& picture = pictures_.all()[column.picture];
    const BiasForm& form = *shown.at(picture.slot).form;
    static constexpr const char* kIds[kMost] = {"map a", "map b", "map c", "map d"};
    viz::MapView view;
    view.id = kIds[column.place];
    view.data = picture.map.data(picture.version);
    view.coloring = pictures_.coloring(ui, picture);
    view.area = {column.size.x, column.size.y - ui.px(kMapTitle)};
    view.is_signed = picture.is_pair() || is_signed(ui.selection.quantity);
    view.free_axes = form.has_free_axes();
    view.dimmed = picture.is_dimmed;
    set_bias_axes(view, form, Positions(*slots.at(picture.slot).status, shown.layer()),
                  picture.map.block);
    int64_t row = -1, line = -1;
    const Blocks block = picture.map.block;
    if (ui.selection.locked && form.place(ui.selection.cell, row, line))
        view.target = {row / block.rows, line / block.columns};
    if (form.place(ui.selection.shown(), row, line))
        view.source = {row / block.rows, line / block.columns};
    view.cross_hair = true;
    ImGui::SetCursorScreenPos({column.at.x, column.at.y + ui.px(kMapTitle)});
    if (picture.kind == ComparedPicture::split) ImGui::SetNextItemAllowOverlap();
    const viz::MapReply reply = maps_[column.place].draw(view, ui);
    const SlotMap& of = shown.at(picture.slot);
    const Cell& cell = ui.selection.shown();
    const double value = slot_cell_value(of, cell, ui.selection.quantity);
    const std::string words = !std::isnan(value)         ? exact_number(float(value))
                              : is_cell_masked(of, cell) ? "masked"
                                                         : "no cell";
    is_blocked_ = !block.is_single();
    scale_words_ = block.is_single() ? cell_zoom_words(reply.zoom)
                                     : "1:" + block.words() + ", extreme of each block";
    ui.recorder.area(
        {.kind = "map",
         .path = ui.recorder.claim(fmt::format("Map {0}##map_{0}", column.place)),
         .min = reply.map.low,
         .max = reply.map.high,
         .value = fmt::format("{} layer {} {}x{} {}, {}", picture.title, shown.layer(),
                              picture.map.rows, picture.map.columns, scale_words_, words),
         .why_not = {}});
    take_pointer(ui, form, picture, reply);
    if (reply.zoomed) {
        link(ui, column.place);
        ui.want_frames(1);
    }
    if (picture.kind == ComparedPicture::split) draw_split(ui, reply, column);
}

// The line between the two maps of the split view; it can be dragged.
void CompareMaps::draw_split(PaneContext& ui, const viz::MapReply& reply, const MapColumn& column) {
    double& split = ui.selection.compare.split;
    const viz::Box& map = reply.map;
    const int64_t columns = pictures_.all()[column.picture].map.columns;
    const auto all = float(columns * reply.zoom.across);
    const float first = map.low.x - maps_[column.place].viewport().left;  // of column 0
    const float border = first + float(split_column(split, columns) * reply.zoom.across);
    const float x = std::clamp(border, map.low.x, map.high.x);
    ImGui::SetCursorScreenPos({x - ui.px(8), map.low.y});
    const Region handle = region(ui, "handle", "Split line##split_line",
                                 {{ui.px(16), map.height()}, fmt::format("{:.2f}", split)});
    if (handle.held && all > 0)
        split = std::clamp(double((ImGui::GetIO().MousePos.x - first) / all), 0.0, 1.0);
    if (handle.hovered || handle.held) ImGui::SetMouseCursor(ImGuiMouseCursor_ResizeEW);
    ImDrawList* const list = ImGui::GetWindowDrawList();
    list->AddRectFilled({x - ui.px(1), map.low.y}, {x + ui.px(1), map.high.y}, ui.theme.accent);
    const float middle = (map.low.y + map.high.y) / 2;
    list->AddRectFilled({x - ui.px(5), middle - ui.px(12)}, {x + ui.px(5), middle + ui.px(12)},
                        ui.theme.accent, ui.px(3));
}

const CompareMaps::BarValues& CompareMaps::bar_values(const std::vector<size_t>& of,
                                                      const Coloring& coloring) {
    BarValues& bar = bars_[of.front() % kMost];
    std::vector<uint64_t> versions;
    for (const size_t i : of) versions.push_back(pictures_.all()[i].version);
    if (bar.versions == versions && bar.coloring == coloring) return bar;
    if (bar.versions != versions) {
        std::vector<float> all;
        for (const size_t i : of) {
            const std::vector<float> seen = seen_in(pictures_.all()[i].map);
            all.insert(all.end(), seen.begin(), seen.end());
        }
        std::erase_if(all, [](float v) { return std::isnan(v); });
        bar.is_zero = !all.empty() && std::ranges::all_of(all, [](float v) { return v == 0; });
        bar.values = Distribution(std::move(all));
    }
    bar.versions = std::move(versions);
    bar.coloring = coloring;
    bar.heights = bar.values.histogram(coloring.range, coloring.scale, 96);
    bar.clipped = bar.values.clipped_share(coloring.range);
    return bar;
}

void CompareMaps::draw_bar(PaneContext& ui, std::vector<size_t> of, ImVec2 at, float width) {
    std::erase_if(of, [&](size_t i) { return pictures_.all()[i].map.shown.empty(); });
    if (of.empty()) return;
    const ComparedPicture& first = pictures_.all()[of.front()];
    const Coloring coloring = pictures_.coloring(ui, first);
    pictures_.add_alike(ui, coloring, of);
    const BarValues& bar = bar_values(of, coloring);
    const WidgetName name = fmt::format("Range {0}##range_{0}", of.front());
    if (bar.is_zero) {
        draw_zero_bar(ui, coloring, {at.x, at.y + ui.px(is_low_ ? 4 : kAboveBar)}, width);
        ui.recorder.item("value", ui.recorder.claim(name), kAllZero);
        return;
    }
    viz::ColorBarView view;
    const std::string id = fmt::format("compare bar {}", of.front());
    view.id = id.c_str();
    view.coloring = coloring;
    view.width = width;
    if (!is_low_) {
        view.histogram = bar.heights;
        view.clipped = bar.clipped;
    }
    view.histogram_height = 22;
    const Quantity quantity = ui.selection.quantity;
    view.percent = quantity == Quantity::row_share && !first.is_pair();
    view.low_locked = quantity != Quantity::w && !first.is_pair();
    if (quantity == Quantity::exp_minus_one && view.low_locked && coloring.range.low <= -1)
        view.low_note = "floor";
    ImGui::SetCursorScreenPos(at);
    const viz::ColorBarReply reply = draw_color_bar(view, ui);
    ui.recorder.item("value", ui.recorder.claim(name), range_numbers(coloring.range));
    if (reply.reset) pictures_.set_range(first, std::nullopt);
    if (!reply.changed) return;
    Range range = reply.range;
    if (coloring.scale == Scale::signed_linear) {
        const double most = range.high != coloring.range.high ? range.high : -range.low;
        range = {-most, most};
    }
    pictures_.set_range(first, range);
}

void CompareMaps::draw(PaneContext& ui, CompareSlots& slots, const ShownMaps& shown, ImVec2 area) {
    const CompareChoice& choice = ui.selection.compare;
    const size_t count = ComparePictures::count(choice, slots.size());
    const ImVec2 corner = ImGui::GetCursorScreenPos();
    const auto [width, gap] = map_columns(ui, count, area.x);
    is_low_ = area.y < ui.px(kLowArea);
    const ImVec2 size = {std::max(ui.px(60), width),
                         std::max(ui.px(80), area.y - ui.px(is_low_ ? kLowBar : kBar))};
    const ImVec2 available = {size.x - ui.px(48), size.y - ui.px(kMapTitle + 24)};
    pictures_.update(ui, slots, shown, exact_ ? std::nullopt : std::optional(available));
    const std::vector<size_t> columns = pictures_.columns(choice, ui.selection.flicker);
    std::vector<size_t> values;
    for (size_t place = 0; place < columns.size() && place < kMost; ++place) {
        const ComparedPicture& picture = pictures_.all()[columns[place]];
        const MapColumn column{.picture = columns[place],
                               .place = place,
                               .at = {corner.x + float(place) * (size.x + gap), corner.y},
                               .size = size};
        draw_title(ui, slots, shown, column);
        if (picture.map.shown.empty())
            draw_problem(ui, slots, column);
        else
            draw_map(ui, slots, shown, column);
        const float below = corner.y + size.y + ui.px(4);
        if (picture.is_pair())
            draw_bar(ui, {column.picture}, {column.at.x, below}, size.x);
        else if (!choice.links_range)
            draw_bar(ui, {column.picture}, {column.at.x, below}, size.x);
        else
            values.push_back(column.picture);
    }
    if (!values.empty()) {
        const auto wide = float(values.size());
        draw_bar(ui, values, {corner.x, corner.y + size.y + ui.px(4)},
                 wide * size.x + (wide - 1) * gap);
    }
    ImGui::SetCursorScreenPos(corner);
    ImGui::Dummy({area.x, area.y});
}

void CompareMaps::fit() {
    exact_ = false;
    for (viz::Map& map : maps_) map.set_viewport({});
}

void CompareMaps::show(const BiasForm& form, const Cell& cell) {
    int64_t row = -1, column = -1;
    if (!form.place(cell, row, column)) return;
    if (form.is_kernel()) return;  // small: everything is in view
    if (is_blocked_) {
        exact_ = true;
        for (viz::Map& map : maps_) map.set_zoom(1);
    }
    for (viz::Map& map : maps_) map.show({row, column});
}

}  // namespace aft::app
