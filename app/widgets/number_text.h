// Numbers in fields: how a value is shown and what may be typed. Pure; any thread.
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "app/widgets/fields.h"
#include "model/status.h"

namespace aft::app {

// ASCII, as typed and recorded: "0.1", "1.5e-3", "78100".
[[nodiscard]] std::string typed_number(const NumberField& field, double value);
// On screen: U+2212 for minus, thousands split by spaces: "78 100", "1.5e−3".
[[nodiscard]] std::string shown_number(const NumberField& field, double value);
// Accepts 1.5e-3, 1,000-free plain numbers, U+2212. nullopt with `error` = "0 to 1, found 200".
[[nodiscard]] std::optional<double> parse_number(const NumberField& field, std::string_view text,
                                                 std::string& error);
// A measured value: fixed decimals where they say it, "3.396e9" and "4.18e-5" where they do not.
[[nodiscard]] std::string short_value(double value, int decimals);
// A dash where nothing is measured: training that rests has no speed, an opened model no memory of
// its own.
[[nodiscard]] std::string speed_words(const Status& status);  // "6.66"
[[nodiscard]] std::string examples_words(const Status& status);
[[nodiscard]] std::string memory_words(const Status& status);

}  // namespace aft::app
