#include "app/state/overlay_choice.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/state/open_path.h"

namespace aft::app {
namespace {

auto find_overlay(const ViewState& ui, const std::string& run) {
    return std::find_if(ui.overlays.begin(), ui.overlays.end(),
                        [&](const std::string& path) { return is_same_path(path, run); });
}

}  // namespace

bool is_overlaid(const ViewState& ui, const std::string& run) {
    return find_overlay(ui, run) != ui.overlays.end();
}

std::string why_no_overlay(const ViewState& ui, const std::string& run) {
    if (!ui.has_model()) return "No run is open.";
    if (is_same_path(run, ui.status.path)) return "It is open.";
    if (is_overlaid(ui, run) || ui.overlays.size() < kMostOverlays) return "";
    return fmt::format("{} runs are overlaid at most.", kMostOverlays);
}

void toggle_overlay(ViewState& ui, const std::string& run) {
    if (const auto found = find_overlay(ui, run); found != ui.overlays.end())
        ui.overlays.erase(found);
    else if (why_no_overlay(ui, run).empty())
        ui.overlays.push_back(whole_path(run));
}

}  // namespace aft::app
