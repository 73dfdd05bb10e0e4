#include "app/state/confusion_values.h"

#include <fmt/format.h>

#include <limits>

#include "core/outside.h"
#include "core/text.h"

namespace aft::app {

std::string class_name(const EvalClasses& classes, int64_t label) {
    const auto place = static_cast<size_t>(label);
    return place < classes.names.size() ? printable_line(classes.names[place])
                                        : std::to_string(label);
}

std::vector<float> confusion_shares(const EvalClasses& classes) {
    std::vector<float> shares;
    for (int64_t label = 0; label < classes.count; ++label) {
        const auto n = static_cast<double>(classes.examples_of(label));
        for (int64_t answer = 0; answer < classes.count; ++answer) {
            const auto place = static_cast<size_t>(label * classes.count + answer);
            shares.push_back(
                static_cast<float>(n > 0 ? static_cast<double>(classes.confusion[place]) / n
                                         : std::numeric_limits<double>::quiet_NaN()));
        }
    }
    return shares;
}

std::string confusion_words(const EvalClasses& classes, int64_t label, int64_t answer) {
    const int64_t of = classes.examples_of(label);
    const int64_t n = classes.confusion[static_cast<size_t>(label * classes.count + answer)];
    const std::string what =
        label == answer ? class_name(classes, label) + " known"
                        : class_name(classes, label) + " taken for " + class_name(classes, answer);
    if (of == 0) return what + ": no example of it";
    return fmt::format("{}: {} of {}, {} %", what, group_thousands(n), group_thousands(of),
                       plain_number(100 * static_cast<double>(n) / static_cast<double>(of), 1));
}

}  // namespace aft::app
