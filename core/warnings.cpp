#include "core/warnings.h"

#include <fmt/core.h>

#include <cstdio>
#include <functional>
#include <mutex>
#include <set>
#include <utility>

#include "core/outside.h"

namespace aft {
namespace {

struct WarningLog {
    std::mutex mutex;
    std::set<std::string, std::less<>> reported;  // texts and subjects
    WarningSink sink;
};

WarningLog& warnings() {
    static WarningLog all;
    return all;
}

}  // namespace

void warn_once(const std::string& text) {
    warn_once_about(text, [&] { return text; });
}

void warn_once_about(std::string_view subject, const std::function<std::string()>& text_of) {
    WarningLog& all = warnings();
    const std::lock_guard lock(all.mutex);
    if (all.reported.contains(subject)) return;
    all.reported.emplace(subject);
    const std::string text = text_of();
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
