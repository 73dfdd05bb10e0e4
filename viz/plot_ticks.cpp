#include "viz/plot_ticks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/text.h"

namespace aft::viz {
namespace {

constexpr double kRounding = 1e-9;                          // of a step
constexpr double kLeastPlain = 0.999e-4, kMostPlain = 1e9;  // between them there are no powers

// The smallest 1, 2 or 5 times a power of ten that is not below.
double round_step(double least) {
    const double decade = std::pow(10, std::floor(std::log10(least)));
    for (const double k : {1.0, 2.0, 5.0})
        if (k * decade >= least * (1 - kRounding)) return k * decade;
    return 10 * decade;
}

std::vector<double> even_ticks(const TickAxis& axis) {
    const double span = axis.high - axis.low;
    if (!(span > 0) || !std::isfinite(span)) return {};
    double step = round_step(span / std::max(1, axis.most));
    if (axis.is_whole) step = std::max(1.0, step);
    const auto first_of = [&](double by) { return std::ceil(axis.low / by - kRounding); };
    const auto last_of = [&](double by) { return std::floor(axis.high / by + kRounding); };
    // One number says nothing of the size: the next smaller step, if that leaves few enough.
    const double finer = round_step(0.4 * step);
    const bool is_alone = !axis.is_whole && first_of(step) >= last_of(step);
    if (is_alone && last_of(finer) - first_of(finer) <= axis.most) step = finer;
    std::vector<double> out;
    const double first = first_of(step), last = last_of(step);
    for (double i = first; i <= last; ++i) {
        if (out.size() > 1000) return {};  // numbers so large that a step is lost in them
        out.push_back(i * step);
    }
    return out;
}

std::vector<double> powers(const TickAxis& axis) {
    auto first = static_cast<int>(std::ceil(std::log10(axis.low) - kRounding));
    if (axis.is_whole) first = std::max(first, 0);
    const auto last = static_cast<int>(std::floor(std::log10(axis.high) + kRounding));
    const int stride = std::max(1, (last - first) / std::max(1, axis.most) + 1);
    std::vector<double> out;
    for (int p = first; p <= last; p += stride) out.push_back(std::pow(10, p));
    return out;
}

// 1, 2 and 5 in every decade.
std::vector<double> between_powers(const TickAxis& axis) {
    std::vector<double> out;
    const auto first = static_cast<int>(std::floor(std::log10(axis.low)));
    const auto last = static_cast<int>(std::floor(std::log10(axis.high)));
    for (int p = first; p <= last; ++p)
        for (const double k : {1.0, 2.0, 5.0}) {
            const double v = k * std::pow(10, p);
            const bool is_inside =
                v >= axis.low * (1 - kRounding) && v <= axis.high * (1 + kRounding);
            if (is_inside && (!axis.is_whole || v >= 1)) out.push_back(v);
        }
    return out;
}

std::vector<double> log_ticks(const TickAxis& axis) {
    if (!(axis.low > 0)) return {};
    if (std::vector<double> all = powers(axis); all.size() >= 2) return all;
    std::vector<double> some = between_powers(axis);
    if (some.size() >= 3 && some.size() <= size_t(std::max(1, axis.most)) + 1) return some;
    std::vector<double> even = even_ticks(axis);
    std::erase_if(even, [](double v) { return !(v > 0); });
    return even;
}

struct TickUnit {
    double size = 1;
    std::string suffix{};
};

TickUnit power_of(double value) {
    const auto power = static_cast<int>(std::floor(std::log10(value) + kRounding));
    return {std::pow(10, power),
            power < 0 ? fmt::format("e\u2212{}", -power) : fmt::format("e{}", power)};
}

// That of the largest number, if two decimals then tell the ticks apart.
TickUnit unit_of(double largest, double apart) {
    if (largest >= kMostPlain || (largest > 0 && largest < kLeastPlain)) return power_of(largest);
    if (largest >= 1e6 && apart >= 1e4 * (1 - kRounding)) return {1e6, "M"};
    if (largest >= 1e4 && apart >= 10 * (1 - kRounding)) return {1e3, "k"};
    return {};
}

int decimals_of(double value) {
    constexpr int kMost = 8;
    for (int n = 0; n < kMost; ++n)
        if (std::abs(value - std::round(value * std::pow(10, n)) / std::pow(10, n)) <=
            1e-6 * std::abs(value))
            return n;
    return kMost;
}

}  // namespace

Ticks make_ticks(const TickAxis& axis) {
    Ticks out{.values = axis.is_log ? log_ticks(axis) : even_ticks(axis), .labels = {}};
    const std::vector<double>& v = out.values;
    if (v.empty()) return out;
    double apart = v.size() > 1 ? v[1] - v[0] : std::abs(v[0]);
    for (size_t i = 2; i < v.size(); ++i) apart = std::min(apart, v[i] - v[i - 1]);
    const double largest = std::max(std::abs(v.front()), std::abs(v.back()));
    // Over several decades every number has the unit that suits it.
    const bool is_wide = axis.is_log && v.back() >= 50 * v.front();
    // One way of writing on an axis: where a number needs its power of ten, all have theirs.
    const bool has_powers = is_wide && (v.front() < kLeastPlain || v.back() >= kMostPlain);
    for (const double value : v) {
        const TickUnit unit = has_powers ? power_of(value)
                              : is_wide  ? unit_of(value, value)
                                         : unit_of(largest, apart);
        const int decimals = decimals_of((is_wide ? value : apart) / unit.size);
        out.labels.push_back(value == 0 ? "0"
                                        : plain_number(value / unit.size, decimals) + unit.suffix);
    }
    return out;
}

}  // namespace aft::viz
