#include "app/state/map_look.h"

#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <iterator>

namespace aft::app {
namespace {

struct LookRow {
    const char* words;
    bool is_slide;  // changes little by little
    bool (*differs)(const MapLook& a, const MapLook& b);
    void (*take)(const MapLook& from, MapLook& to);
};

template <auto Part, auto Field>
constexpr LookRow look_row(const char* words, bool is_slide = false) {
    return {words, is_slide,
            [](const MapLook& a, const MapLook& b) { return a.*Part.*Field != b.*Part.*Field; },
            [](const MapLook& from, MapLook& to) { to.*Part.*Field = from.*Part.*Field; }};
}

constexpr auto kMaps = &MapLook::maps;
constexpr auto kAttention = &MapLook::attention;
constexpr const char* kRangeByHand = "range";

// Of several that change at once the first gives its name: another quantity ends a range by hand.
constexpr LookRow kLookRows[] = {
    look_row<kMaps, &MapDisplay::quantity>("quantity"),
    look_row<kMaps, &MapDisplay::gauge>("gauge"),
    look_row<kMaps, &MapDisplay::difference_to_pin>("change since pin"),
    look_row<kMaps, &MapDisplay::range_mode>("range rule"),
    look_row<kMaps, &MapDisplay::percentile>("limits"),
    look_row<kMaps, &MapDisplay::symmetric>("symmetric ends"),
    look_row<kMaps, &MapDisplay::scale>("scale"),
    look_row<kMaps, &MapDisplay::order>("order of the Atlas"),
    look_row<kMaps, &MapDisplay::block_value>("value of blocks"),
    look_row<kMaps, &MapDisplay::range_by_hand>(kRangeByHand, true),
    look_row<kAttention, &AttentionLook::scale>("scale of attention"),
    look_row<kAttention, &AttentionLook::colors>("colours of attention"),
    look_row<kAttention, &AttentionLook::over_image>("picture under the map"),
    look_row<kAttention, &AttentionLook::opacity>("opacity of the map", true)};

MapLook look_of(const ViewState& ui) {
    return {.maps = ui.selection, .attention = ui.settings.attention};
}

}  // namespace

void note_look(ViewState& ui, double time) {
    ChangeHistory& changes = ui.selection.changes;
    const MapLook now = look_of(ui);
    const std::optional<MapLook> before = changes.see(now);
    if (!before) return;
    const auto* const row =
        std::find_if(std::begin(kLookRows), std::end(kLookRows),
                     [&](const LookRow& one) { return one.differs(*before, now); });
    if (row == std::end(kLookRows)) return;
    std::string what = row->words;
    bool is_slide = row->is_slide;
    if (what == kRangeByHand) {
        what += fmt::format(", at layer {}", ui.selection.cell.layer);
        is_slide = before->maps.range_by_hand && now.maps.range_by_hand;  // neither set nor reset
    }
    changes.add({.of = LookChange{*before, now, is_slide},
                 .what = std::move(what),
                 .time = time,
                 .press = press_time()});
}

void show_change(ViewState& ui, const LookChange& change) {
    MapLook now = look_of(ui);
    for (const LookRow& row : kLookRows)
        if (row.differs(change.before, change.after)) row.take(change.after, now);
    static_cast<MapDisplay&>(ui.selection) = now.maps;
    ui.settings.attention = now.attention;
    (void)ui.selection.changes.see(now);
}

double press_time() {
    const bool is_held =
        ImGui::IsMouseDown(ImGuiMouseButton_Left) || ImGui::IsMouseReleased(ImGuiMouseButton_Left);
    return is_held ? ImGui::GetIO().MouseClickedTime[ImGuiMouseButton_Left] : -1;
}

}  // namespace aft::app
