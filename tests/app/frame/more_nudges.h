// Nudges of the random clicks to what "Run until..." asks and shows, to a batch of pictures, to the
// Lab's biases as a slot, to notes at steps, cards that export, overlaid runs, the page of a sweep,
// which Home shows first, a picture that cannot be read, the maps of Relative, and settings that
// some mixers and tasks alone read. Tests only; window thread.
#pragma once
#include <functional>
#include <string>

#include "app/state/ui.h"
#include "tests/app/frame/clicks.h"

namespace aft::app {

using Nudges = decltype(ClickRules::nudges);
using ClickId = std::function<void(const std::string&)>;

// ui: of the window that is there when the nudge is given; wait: until a control is usable; press:
// presses it.
[[nodiscard]] Nudges more_nudges(const std::function<Ui&()>& ui, const ClickId& wait,
                                 const ClickId& press);

// To the settings of a run that has not begun that some mixers alone read; open: shows Train of
// such a run with this config.
[[nodiscard]] Nudges setting_nudges(const std::function<void(const Config&)>& open);

}  // namespace aft::app
