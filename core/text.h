// Numbers as a person reads them on screen and in messages. Not for files.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace aft {

[[nodiscard]] std::string group_thousands(int64_t n);  // "48 212" (narrow spaces are plain spaces)
// "+3.03", U+2212 for minus, no sign if it rounds to 0
[[nodiscard]] std::string signed_number(double v, int decimals);
[[nodiscard]] std::string plain_number(double v, int decimals);  // U+2212 for minus
// 4 decimals, or 1.500e\u22123 where that says more
[[nodiscard]] std::string stored_value(double v);
// "1.5e\u22123": at most so many decimals, none that are 0.
[[nodiscard]] std::string scientific(double v, int decimals);
// "0.01234", "1.234e\u22125": at most so many digits, in either way of writing.
[[nodiscard]] std::string significant(double v, int digits);
// "steps"; of one "step". Ratios and units of one or two letters have no plural.
[[nodiscard]] std::string counted_unit(std::string_view unit, bool is_one);
[[nodiscard]] std::string duration(double seconds);  // "2 h 51 min", "48 s"
[[nodiscard]] std::string byte_size(double bytes);   // "9.8 GiB"
// The closest of `words`, "" if none is near.
[[nodiscard]] std::string nearest_word(std::string_view word,
                                       const std::vector<std::string>& words);
// What a JSON parser says, without the "[json.exception.parse_error.101] " that it begins with.
[[nodiscard]] std::string plain_json_error(std::string_view what);
// As many digits as it takes to read back exactly, with a plain minus: "-1.2345679", "1e-07".
// A double that is a float has the digits of the float.
[[nodiscard]] std::string exact_number(float v);
[[nodiscard]] std::string exact_number(double v);
// One word of a shell's command line: as it is, or in quotes where the shell would read it.
[[nodiscard]] std::string shell_word(std::string_view word);
// As the text or an attribute of XML; control characters are left out.
[[nodiscard]] std::string xml_text(std::string_view words);
[[nodiscard]] std::vector<std::string> split(std::string_view text, char separator);
// Columns as wide as their widest entry, two blanks apart and two before the first; `right`: the
// first column whose entries end below each other. A line for each row; control characters are
// escaped.
[[nodiscard]] std::string aligned_table(std::vector<std::vector<std::string>> rows, size_t right);

}  // namespace aft
