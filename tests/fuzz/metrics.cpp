// Lines of metrics.jsonl. A line given twice is read once by the general JSON parser, for its new
// columns, and once by the quick scanner: both must read the same.
#include <cmath>

#include "model/metrics.h"
#include "tests/fuzz/refused.h"

namespace {

bool is_same(double a, double b) {
    return a == b || (std::isnan(a) && std::isnan(b));
}

void require_same_rows(const aft::Curves& curves, const std::string& line) {
    using aft::require;
    require(curves.step.size() == 2, "a line is a row", line);
    require(curves.step[0] == curves.step[1], "both parsers read the same step", line);
    for (const auto& [name, column] : curves.columns) {
        require(column.size() == 2, "a column has every row", line);
        require(is_same(column[0], column[1]), "both parsers read the same value", line);
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
    using namespace aft;
    const std::string text(reinterpret_cast<const char*>(bytes), size);
    uint64_t offset = 7;
    Curves all;
    const bool taken = is_taken([&] { append_rows(text + "\n", "metrics.jsonl", offset, all); });
    require(offset <= 7 + size + 1 && (!taken || offset == 7 + size + 1),
            "the offset is behind the rows that were read", std::to_string(offset));
    for (size_t begin = 0; begin <= text.size();) {
        const size_t end = std::min(text.find('\n', begin), text.size());
        const std::string line = text.substr(begin, end - begin) + "\n";
        Curves twice;
        uint64_t at = 0;
        if (is_taken([&] { append_rows(line + line, "metrics.jsonl", at, twice); }))
            require_same_rows(twice, line);
        begin = end + 1;
    }
    return 0;
}
