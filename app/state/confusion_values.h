// What an evaluation says of classes, as it is shown: in files of `eval` and in the window. Pure
// functions. Any thread.
#pragma once
#include <string>
#include <vector>

#include "model/jobs/eval.h"

namespace aft::app {

// Its name in the data, else its number.
[[nodiscard]] std::string class_name(const EvalClasses& classes, int64_t label);
// [count, count]: rows are labels and sum to 1, columns answers; NaN where no example has the
// label.
[[nodiscard]] std::vector<float> confusion_shares(const EvalClasses& classes);
// "box taken for disc: 12 of 340, 3.5 %"; "box known: 300 of 340, 88.2 %".
[[nodiscard]] std::string confusion_words(const EvalClasses& classes, int64_t label,
                                          int64_t answer);

}  // namespace aft::app
