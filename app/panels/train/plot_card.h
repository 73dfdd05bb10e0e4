// The card of the curves: the values of all plots at one logged step. Pure; any thread.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "viz/curve_card.h"

namespace aft::app {

struct NamedPlot {
    viz::CurvePlot view;
    std::vector<std::string> names{};  // of its curves, in the card
};

// As recorded at the logged step of any run (`steps`: of each) that is nearest to x: neither
// smoothed nor decimated. What was not logged there is of the last step before it, which its name
// says.
[[nodiscard]] viz::CurveCard card_at(std::span<const NamedPlot> plots,
                                     std::span<const NumberView> steps, double x);
// "step 40; Loss, bits/dim: | train 1.2": of the text of the screen.
[[nodiscard]] std::string card_words(const viz::CurveCard& card);

}  // namespace aft::app
