// What a path from outside is: a checkpoint, a run folder, a picture, a view, a recipe of the Lab,
// or something that cannot be opened. Window thread; looks at the disk once.
#pragma once
#include <string>
#include <vector>

#include "app/state/ui.h"

namespace aft::app {

struct Opening {
    enum PathKind { model, picture, view, recipe, impossible } kind = impossible;
    Workspace workspace = Workspace::biases;  // where a model is shown first
    std::string words;      // impossible: why, and what can be opened; recipe: what it is
    bool may_come = false;  // nothing is there: a run may begin in it
};
[[nodiscard]] Opening classify_path(const std::string& path, bool has_session);
// From the root, without "." and "..", so that it means the same from any folder; "" stays.
[[nodiscard]] std::string whole_path(const std::string& path);
// Of what is open: a run's is that of its folder, that of a file which is no step of a run its own.
[[nodiscard]] std::string model_name(const Status& status);
[[nodiscard]] RecentItem recent_item(const std::string& path);
inline constexpr const char* kSweepItem = "sweep";  // RecentItem::what of a sweep's folder
[[nodiscard]] RecentItem sweep_item(const std::string& folder);
[[nodiscard]] inline bool is_sweep_item(const RecentItem& item) {
    return item.what == kSweepItem;
}
// The colour of its mark and its curves.
[[nodiscard]] ImU32 run_color(const PaneContext& ui, const std::string& path);
// By name alone, without a look at the disk.
[[nodiscard]] bool is_same_path(const std::string& a, const std::string& b);
// These in their order, each once, and in place of a saved step its run.
[[nodiscard]] std::vector<std::string> of_runs(const std::vector<std::string>& paths);

}  // namespace aft::app
