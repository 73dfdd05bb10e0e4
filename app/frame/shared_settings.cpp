#include "app/frame/shared_settings.h"

#include <optional>
#include <string>

#include "app/frame/run_place.h"
#include "app/state/open_path.h"
#include "app/state/settings_merge.h"

namespace aft::app {
namespace {

// Under which path notes are kept of what is open; "" where nothing is.
std::string key_of_open(const Ui& ui) {
    if (!ui.has_model()) return "";
    for (const auto& [path, notes] : ui.settings.notes)
        if (is_same_path(path, ui.status.path)) return path;
    return "";
}

}  // namespace

void save_shared_settings(Ui& ui, UserSettings& loaded, const std::filesystem::path& file) {
    const std::string open = key_of_open(ui);
    if (!open.empty()) keep_run_place(ui, ui.settings.notes[open]);
    UserSettings merged = ui.settings;
    std::string problem;
    const std::optional<UserSettings> theirs = read_user_settings(file, problem);
    if (!problem.empty()) ui.say("warning", problem);
    if (theirs) merge_user_settings(*theirs, loaded, merged);
    save_user_settings(file, merged);
    take_over_merged(merged, open, ui.settings);
    loaded = ui.settings;
    if (open.empty()) return;
    ui.selection.pins = merged.notes[open].pins;
    ui.experiments = merged.notes[open].experiments;
}

}  // namespace aft::app
