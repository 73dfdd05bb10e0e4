#include "model/checkpoints/importers/faults.h"

#include <algorithm>
#include <cctype>

#include "core/outside.h"

namespace aft::imports {

namespace {

constexpr size_t kMostNames = 5;

// "'a' [4, 4], 'b' [4] (and 3 more)"
std::string rows_words(const std::vector<Left>& rows) {
    std::string words;
    for (size_t i = 0; i < std::min(rows.size(), kMostNames); ++i)
        words += fmt::format("{}'{}' [{}]{}", i == 0 ? "" : ", ", shown(rows[i].name),
                             fmt::join(rows[i].shape, ", "), rows[i].why);
    if (rows.size() > kMostNames) words += fmt::format(" (and {} more)", rows.size() - kMostNames);
    return words;
}

// The name as a pattern of all layers: "blocks.{i}.mixer.u".
std::string pattern_of(const std::string& name) {
    for (size_t begin = 0; begin < name.size();) {
        const size_t end = std::min(name.find('.', begin), name.size());
        if (end > begin && std::all_of(name.begin() + static_cast<std::ptrdiff_t>(begin),
                                       name.begin() + static_cast<std::ptrdiff_t>(end),
                                       [](unsigned char c) { return std::isdigit(c); }))
            return shown(name.substr(0, begin) + "{i}" + name.substr(end));
        begin = end + 1;
    }
    return shown(name);
}

std::string counted(const std::vector<Left>& rows, const char* one, const char* several) {
    return rows.size() == 1 ? fmt::format("one {}", one)
                            : fmt::format("{} {}", rows.size(), several);
}

// A line for each kind of fault. `is_users`: with the rows that the user's own mapping wants.
std::vector<std::string> fault_lines(const MappingFaults& faults, bool is_users) {
    std::vector<std::string> lines;
    const auto add = [&](const std::vector<Left>& rows, const std::string& title,
                         const std::string& remedy) {
        if (rows.empty()) return;
        lines.push_back(
            fmt::format("{}: {}{}", title, rows_words(rows), is_users ? remedy : std::string()));
    };
    const auto first = [](const std::vector<Left>& rows) {
        return rows.empty() ? std::string() : pattern_of(rows.front().name);
    };
    add(faults.unknown,
        counted(faults.unknown, "tensor that no rule knows", "tensors that no rule knows"),
        fmt::format(R"(; a rule takes them, or {{"from": "{}", "drop": "why"}} leaves them out)",
                    first(faults.unknown)));
    add(faults.failed, counted(faults.failed, "rule fails", "rules fail"), "");
    add(faults.missing,
        counted(faults.missing, "parameter has no value", "parameters have no value"),
        fmt::format(R"(; a rule with {{"to": "{0}"}} gives them one, "fill": {{"{0}": 0}} one )"
                    "number everywhere",
                    first(faults.missing)));
    add(faults.misshapen,
        counted(faults.misshapen, "parameter has another shape", "parameters have another shape"),
        R"(; "transpose", "first" and "shape" of a rule change it, "settings" what is needed)");
    add(faults.strange,
        counted(faults.strange, "name of \"to\" is not part of the model",
                "names of \"to\" are not part of the model"),
        "; docs/format.md lists the names");
    return lines;
}

}  // namespace

void check_faults(const MappingFaults& faults, const Mapping& mapping, const std::string& path) {
    const bool is_users = !mapping.is_known;
    std::vector<std::string> lines = fault_lines(faults, is_users);
    if (lines.empty()) return;
    if (!is_users)
        lines.push_back(fmt::format("a copy of {} with other rules is read by --map FILE",
                                    shown_path(mapping.file)));
    const std::string where = fmt::format(
        "{}: {} {}, but", path, is_users ? "read by" : "recognised as", mapping.info.name);
    throw Error(lines.size() == 1 ? fmt::format("{} {}", where, lines.front())
                                  : fmt::format("{}\n  {}", where, fmt::join(lines, "\n  ")),
                faults.kind);
}

}  // namespace aft::imports
