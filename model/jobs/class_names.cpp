#include "model/jobs/class_names.h"

#include <map>

#include "core/check.h"
#include "core/files.h"
#include "core/outside.h"
#include "core/text.h"

namespace aft {
namespace {

constexpr uint64_t kMostBytes = uint64_t{16} << 20;
constexpr size_t kMostName = 200;

// Lines end as on Unix or Windows; the last end may be missing.
std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines = split(text, '\n');
    if (!lines.empty() && lines.back().empty()) lines.pop_back();
    for (std::string& line : lines)
        if (line.ends_with('\r')) line.pop_back();
    return lines;
}

}  // namespace

std::vector<std::string> read_class_names(const std::string& file, int64_t count) {
    std::vector<std::string> names = lines_of(read_file(file, kMostBytes));
    std::map<std::string_view, size_t> line_of;
    for (size_t i = 0; i < names.size(); ++i) {
        const auto refuse = [&](const std::string& found) {
            fail_usage(
                "--classes {}: line {}: {}; allowed: a name of 1 to {} bytes of UTF-8 without "
                "control characters, none twice",
                shown_path(file), i + 1, found, kMostName);
        };
        const std::string& name = names[i];
        if (name.empty()) refuse("it is empty");
        if (name.size() > kMostName) refuse(fmt::format("it has {} bytes", name.size()));
        if (printable_line(name) != name) refuse("'" + shown(name) + "'");
        const auto [before, is_new] = line_of.emplace(name, i + 1);
        if (!is_new)
            refuse(fmt::format("'{}' stands in line {}, too", shown(name), before->second));
    }
    if (static_cast<int64_t>(names.size()) != count)
        fail_usage("--classes {}: {} names, the model has {} classes", shown_path(file),
                   names.size(), count);
    return names;
}

}  // namespace aft
