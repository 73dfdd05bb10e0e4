// What the probe "formation" measures of a head: names, units, and the choice among them. Window
// thread, inside a frame.
#pragma once
#include "app/panels/shared/formation_rows.h"
#include "app/panels/shared/norm_words.h"
#include "app/state/draw_context.h"

namespace aft::app {

struct FormationNumber {
    const char *words, *unit;
    bool is_share;
};
inline constexpr FormationNumber kFormation[kFormationNumbers] = {
    {kRmsOfW, "visible pairs", false},
    {"Entropy", "of a flat row", true},
    {"Largest share", "of a row", true},
    {"Mean distance", "to the sources", false}};

// True when another one has been chosen.
bool formation_choice(DrawContext& ui, int& number);

}  // namespace aft::app
