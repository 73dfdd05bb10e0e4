#include "core/warnings.h"

#include <fmt/core.h>

#include <cstdio>
#include <mutex>
#include <set>
#include <utility>

#include "core/outside.h"

namespace aft {
namespace {

struct WarningLog {
    std::mutex mutex;
    std::set<std::string> told;
    WarningSink sink;
};

WarningLog& warnings() {
    static WarningLog all;
    return all;
}

}  // namespace

void warn_once(const std::string& text) {
    WarningLog& all = warnings();
    const std::lock_guard lock(all.mutex);
    if (!all.told.insert(text).second) return;
    if (all.sink)
        all.sink(text);
    else
        fmt::print(stderr, "afterimage: warning: {}\n", printable(text));
}

WarningSink set_warning_sink(WarningSink sink) {
    WarningLog& all = warnings();
    const std::lock_guard lock(all.mutex);
    return std::exchange(all.sink, std::move(sink));
}

}  // namespace aft
