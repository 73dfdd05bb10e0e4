// The user's settings of a window beside others on the same file: what they have written since is
// taken over, and what each has set of the run that is open in it stays in it. Window thread;
// blocks on the disk for a moment.
#pragma once
#include <filesystem>

#include "app/state/ui.h"

namespace aft::app {

// Writes ui.settings into `file` together with what others have written there since they were as
// `loaded`, which becomes what they are now.
void save_shared_settings(Ui& ui, UserSettings& loaded, const std::filesystem::path& file);

}  // namespace aft::app
