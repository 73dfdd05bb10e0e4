#include "app/panels/shared/formation_choice.h"

#include "app/widgets/buttons.h"

namespace aft::app {

bool formation_choice(DrawContext& ui, int& number) {
    const Choice numbers[] = {
        {.text = "RMS##norm",
         .tip =
             "Root mean square of w over the visible pairs, gauge fixed; of kernels over all taps.",
         .formula = "sqrt(mean w\u00B2)"},
        {.text = "Entropy##entropy",
         .tip = "Of a target's shares by the bias alone, over that of a flat row: 100 % looks "
                "everywhere alike.",
         .formula = "\u2212\u03A3 p log p / log n"},
        {.text = "Largest share##largest",
         .tip = "What a target gives to the one source it looks at most, by the bias alone."},
        {.text = "Distance##distance",
         .tip = "How far the sources are that a target looks at, by the bias alone."}};
    return segmented(ui, "Numbers##number", number, {numbers});
}

}  // namespace aft::app
