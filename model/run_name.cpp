#include "model/run_name.h"

#include <fmt/format.h>

#include "core/outside.h"

namespace aft {

std::string name_problem(const std::string& name) {
    constexpr size_t kMostBytes = 100;
    const bool is_plain = printable_line(name) == name;
    const bool leads_away = name.find('/') != name.npos || name.find("..") != name.npos;
    if (is_plain && !leads_away && name.size() <= kMostBytes) return "";
    return fmt::format(
        "name is '{}' ({} bytes); allowed: at most {} bytes without '/', '..' and control "
        "characters, as it names the run's folder",
        shown(name), name.size(), kMostBytes);
}

}  // namespace aft
