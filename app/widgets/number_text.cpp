#include "app/widgets/number_text.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "app/widgets/fields.h"
#include "core/text.h"

namespace aft::app {

namespace {

std::string replaced(std::string text, std::string_view from, std::string_view to) {
    for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
        text.replace(at, from.size(), to);
    return text;
}

// "0.0015" -> "1.5e-3": shorter and easier to compare.
std::string short_number(double value) {
    const double size = std::abs(value);
    if (value == 0) return "0";
    if (size >= 0.01 && size < 1e6) return fmt::format("{:.6g}", value);
    const int power = static_cast<int>(std::floor(std::log10(size)));
    return fmt::format("{:.4g}e{}", value / std::pow(10.0, power), power);
}

// At its lowest value the field has words.
bool has_words(const NumberField& f, double value) {
    return !f.at_min.empty() && value <= f.min;
}

std::string allowed_words(const NumberField& f) {
    if (!f.at_min.empty()) {
        NumberField numbers = f;
        numbers.at_min.clear();
        return fmt::format("{}, {} to {}", f.at_min,
                           typed_number(numbers, f.integer ? f.min + 1 : f.min),
                           typed_number(numbers, f.max));
    }
    if (std::isfinite(f.min) && std::isfinite(f.max))
        return typed_number(f, f.min) + " to " + typed_number(f, f.max);
    if (std::isfinite(f.min)) return typed_number(f, f.min) + " or more";
    if (std::isfinite(f.max)) return typed_number(f, f.max) + " or less";
    return f.integer ? "a whole number" : "a number";
}

}  // namespace

std::string typed_number(const NumberField& field, double value) {
    if (has_words(field, value)) return field.at_min;
    if (!std::isfinite(value)) return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
    if (field.integer) return fmt::format("{}", static_cast<int64_t>(std::llround(value)));
    if (field.decimals >= 0 && std::abs(value) < 1e6)
        return fmt::format("{:.{}f}", value, field.decimals);
    return short_number(value);
}

std::string shown_number(const NumberField& field, double value) {
    if (has_words(field, value)) return field.at_min;
    const bool is_long = field.decimals == 0 && std::abs(value) >= 1e4 && std::abs(value) < 1e6;
    if ((field.integer || is_long) && std::isfinite(value))
        return replaced(group_thousands(static_cast<int64_t>(std::llround(value))), "-", "\u2212");
    return replaced(typed_number(field, value), "-", "\u2212");
}

std::optional<double> parse_number(const NumberField& field, std::string_view text,
                                   std::string& error) {
    if (!field.at_min.empty() && text == field.at_min) return field.min;
    std::string plain = replaced(std::string(text), "\u2212", "-");
    std::erase(plain, ' ');
    if (plain.starts_with('+')) plain.erase(0, 1);
    double value = 0;
    const auto [end, code] = std::from_chars(plain.data(), plain.data() + plain.size(), value);
    const bool is_number = code == std::errc() && end == plain.data() + plain.size() &&
                           !plain.empty() && std::isfinite(value);
    const bool fits = is_number && value >= field.min && value <= field.max &&
                      (!field.integer || value == std::floor(value));
    if (fits) return value;
    error = fmt::format("{}, found {}", allowed_words(field),
                        text.empty() ? "nothing" : std::string(text));
    return std::nullopt;
}

namespace {

constexpr const char* kUnknown = "\u2013";

}  // namespace

std::string short_value(double value, int decimals) {
    const double size = std::abs(value);
    const bool has_digits = size < 1e4 && size >= std::pow(10.0, -decimals);
    return has_digits || value == 0 || !std::isfinite(value) ? plain_number(value, decimals)
                                                             : stored_value(value);
}

std::string speed_words(const Status& s) {
    if (s.state != RunState::running || !(s.steps_per_s > 0)) return kUnknown;
    return fmt::format("{:.{}f}", s.steps_per_s, s.steps_per_s < 10 ? 2 : 1);
}

std::string examples_words(const Status& s) {
    if (s.state != RunState::running || !(s.examples_per_s > 0)) return kUnknown;
    return fmt::format("{:.0f}", s.examples_per_s);
}

std::string memory_words(const Status& s) {
    return s.memory_bytes > 0 ? byte_size(static_cast<double>(s.memory_bytes)) : kUnknown;
}

}  // namespace aft::app
