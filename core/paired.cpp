#include "core/paired.h"

#include <algorithm>
#include <cmath>

namespace aft {

// Student's t at 97.5 %: exact values for few degrees of freedom, then the expansion of Cornish and
// Fisher (1938) to the third term, right to 4 digits from 10 on.
double PairedChange::half_width_95() const {
    constexpr double kExact[] = {12.7062, 4.3027, 3.1824, 2.7764, 2.5706,
                                 2.4469,  2.3646, 2.3060, 2.2622};
    const auto freedom = static_cast<double>(count - 1);
    if (freedom < 1) return std::numeric_limits<double>::quiet_NaN();
    if (freedom < 10) return kExact[count - 2] * standard_error;
    const double z = 1.959964, z3 = z * z * z, z5 = z3 * z * z, z7 = z5 * z * z;
    const double t = z + (z3 + z) / (4 * freedom) +
                     (5 * z5 + 16 * z3 + 3 * z) / (96 * freedom * freedom) +
                     (3 * z7 + 19 * z5 + 17 * z3 - 15 * z) / (384 * freedom * freedom * freedom);
    return t * standard_error;
}

PairedChange paired_change(std::span<const double> before, std::span<const double> after) {
    const size_t n = std::min(before.size(), after.size());
    PairedChange out{.count = static_cast<int64_t>(n)};
    if (n == 0) return out;
    double sum = 0, squares = 0;
    for (size_t i = 0; i < n; ++i) sum += after[i] - before[i];
    out.mean = sum / static_cast<double>(n);
    for (size_t i = 0; i < n; ++i) {
        const double off = after[i] - before[i] - out.mean;
        squares += off * off;
    }
    if (n > 1)
        out.standard_error =
            std::sqrt(squares / static_cast<double>(n - 1) / static_cast<double>(n));
    return out;
}

}  // namespace aft
