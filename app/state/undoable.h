// Undoable: what of the selection and of the settings undo takes back, as one value: how maps are
// drawn, how completions are sampled, the Lab's pinned batch, and what Compare sets side by side.
// Plain data; window thread.
#pragma once
#include <cstdint>
#include <string>

#include "app/state/compare_choice.h"
#include "app/state/map_display.h"
#include "model/requests.h"

namespace aft::app {

struct SamplingSettings {  // of Complete
    SampleOptions options{};
    bool seed_locked = true;
    int overlay = 0;  // Overlay, by its number
    std::string prompt{};
    int64_t length = 0;
};

struct PinnedExamples {  // of the Lab
    int64_t examples = 0, first = 0;
};

struct Undoable {
    MapDisplay maps{};
    AttentionLook attention{};
    SamplingSettings sampling{};
    PinnedExamples batch{};
    CompareChoice compare{};
};

}  // namespace aft::app
