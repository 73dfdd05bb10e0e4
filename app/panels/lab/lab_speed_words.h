// What Speed says of a timed row: how much faster ours is, and where no ratio is given, why. Pure
// functions; any thread.
#pragma once
#include <string>

#include "bench/bench.h"

namespace aft::app {

[[nodiscard]] std::string time_words(double ms);  // "219.6 µs", "1.25 ms"
// "2.10 times as fast as softmax attention (2.05 to 2.17)"; of a row that was disturbed both times,
// and no ratio.
[[nodiscard]] std::string speed_verdict(const bench::TimedRow& row);
// Of one form over ours: "2.10 (2.05 to 2.17)"; "–" where there is none that can be trusted.
[[nodiscard]] std::string ratio_words(const bench::TimedRow& row, const bench::TimedForm& form);
// Why the row has no ratio, as a sentence; "" = nothing disturbed it.
[[nodiscard]] std::string why_no_ratio(const bench::TimedRow& row);

}  // namespace aft::app
