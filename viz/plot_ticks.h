// Where the axes of line plots have numbers, and what these say. Pure; any thread.
#pragma once
#include <string>
#include <vector>

namespace aft::viz {

struct TickAxis {
    double low = 0, high = 1;  // low < high; positive where `is_log`
    bool is_log = false;
    bool is_whole = false;  // steps, distances: no fractions
    int most = 5;           // ticks that fit, at least 1
};
struct Ticks {
    std::vector<double> values;       // ascending, inside the axis; at most `most` + 1
    std::vector<std::string> labels;  // "20k", "0.00012", "1.2e\u22127"; no two are alike
};
// Round numbers: 1, 2 or 5 times a power of ten apart. Log axes: powers of ten where there are two
// of them, else round numbers between.
[[nodiscard]] Ticks make_ticks(const TickAxis& axis);

}  // namespace aft::viz
