// Response: how long the window takes from an input to what it asks for, drawn without a display:
// the budgets of a frame, a hover, a layer, a scrub and an intervention. For `afterimage bench
// gui`. Main thread; takes a minute or two.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "core/progress.h"

namespace aft::app {

struct ResponseRow {
    std::string model;       // "mirror, T = 256"
    std::string what;        // "hover to read-out"
    double budget_ms = 0;    // on two cores with OpenGL drawn by the processor; 0: none
    std::vector<double> ms;  // of each input, its frames drawn and read back
    std::string note;        // why there is none
};

// quick: the mirror demo alone, few inputs. Throws Interrupted where the token asks to stop; Error
// with the remedy where there is no OpenGL.
[[nodiscard]] std::vector<ResponseRow> measure_responses(const std::string& device, bool quick,
                                                         const JobControl& control);
// A table of it: least, median, 95 of 100, budget.
[[nodiscard]] std::string response_words(const std::vector<ResponseRow>& rows);

}  // namespace aft::app
