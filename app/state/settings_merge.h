// What two windows on the same settings have changed, as one: of every value that of the window
// which has changed it; of lists what either has added, without what either has taken out. Pure;
// any thread.
#pragma once
#include "app/state/user_settings.h"

namespace aft::app {

// Into `ours`, which began as `loaded`: what another window has written since (`theirs`). Where
// both have changed a value, ours is the newer one.
void merge_user_settings(const UserSettings& theirs, const UserSettings& loaded,
                         UserSettings& ours);
// The window's own settings once `merged` is written: lists and notes are shared by all windows;
// theme, zoom, keys and such stay as this window shows them, and so does what is set of the run
// that is open in it (`open`, a key of the notes; empty: none): its locked cell, mask, recipe and
// overlays.
void take_over_merged(const UserSettings& merged, const std::string& open, UserSettings& ours);

}  // namespace aft::app
