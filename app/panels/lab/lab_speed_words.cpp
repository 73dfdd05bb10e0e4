#include "app/panels/lab/lab_speed_words.h"

#include <fmt/format.h>

namespace aft::app {

namespace {

// Of the fastest one in float32 that is not ours; null: none was timed.
const bench::TimedForm* best_peer(const bench::TimedRow& row) {
    const bench::TimedForm* best = nullptr;
    for (const bench::TimedForm& form : row.forms)
        if (!form.is_ours && form.precision == "fp32" &&
            (best == nullptr || form.median_ms < best->median_ms))
            best = &form;
    return best;
}

// Of our fastest form in float32; 0: none was timed.
double ours_of(const bench::TimedRow& row) {
    double fastest = 0;
    for (const bench::TimedForm& form : row.forms)
        if (form.is_ours && form.precision == "fp32" && (fastest == 0 || form.median_ms < fastest))
            fastest = form.median_ms;
    return fastest;
}

std::string reason(const bench::TimedRow& row) {
    return row.is_contended
               ? fmt::format("other programs took {:.0f} % of the processors", 100 * row.others)
               : "the speed of the machine moved";
}

}  // namespace

std::string time_words(double ms) {
    return ms < 1 ? fmt::format("{:.1f} \u00B5s", ms * 1e3) : fmt::format("{:.2f} ms", ms);
}

std::string speed_verdict(const bench::TimedRow& row) {
    const bench::TimedForm* const best = best_peer(row);
    if (best == nullptr) return "nothing to compare with";
    if (row.is_contended || best->ratio == 0)
        return fmt::format("no ratio: ours {}, softmax attention {}", time_words(ours_of(row)),
                           time_words(best->median_ms));
    const double times = best->ratio >= 1 ? best->ratio : 1 / best->ratio;
    return fmt::format("{:.2f} times as {} as softmax attention ({:.2f} to {:.2f})", times,
                       best->ratio >= 1 ? "fast" : "slow",
                       best->ratio >= 1 ? best->ratio_low : 1 / best->ratio_high,
                       best->ratio >= 1 ? best->ratio_high : 1 / best->ratio_low);
}

std::string ratio_words(const bench::TimedRow& row, const bench::TimedForm& form) {
    if (row.is_contended || form.ratio == 0) return "\u2013";
    return fmt::format("{:.2f} ({:.2f} to {:.2f})", form.ratio, form.ratio_low, form.ratio_high);
}

std::string why_no_ratio(const bench::TimedRow& row) {
    const bench::TimedForm* const best = best_peer(row);
    if (!row.is_contended && (best == nullptr || best->ratio != 0)) return "";
    return fmt::format(
        "No ratio is given, because {} meanwhile: measure again when the machine "
        "has nothing else to do.",
        reason(row));
}

}  // namespace aft::app
