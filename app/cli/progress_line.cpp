#include "app/cli/progress_line.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

#include "core/clock.h"
#include "core/outside.h"
#include "core/text.h"

namespace aft::app {
std::string progress_bar(int64_t done, int64_t total, int width) {
    if (total <= 0) return "";
    const double share = std::min(1.0, static_cast<double>(done) / static_cast<double>(total));
    const int full = static_cast<int>(share * width);
    return fmt::format("[{}{}] {:3.0f} %", std::string(static_cast<size_t>(full), '#'),
                       std::string(static_cast<size_t>(width - full), '.'), 100 * share);
}

ProgressLine::ProgressLine() : terminal_(isatty(STDERR_FILENO) != 0) {}

std::string ProgressLine::words(const Progress& progress, Clock::time_point now) const {
    std::string line = progress.total > 0 ? fmt::format("{}/{}", progress.done, progress.total)
                                          : fmt::format("{}", progress.done);
    if (!progress.what.empty()) line += "  " + progress.what;
    const double elapsed = seconds_between(started_, now);
    const int64_t here = progress.done - first_done_;  // a resumed run starts in the middle
    if (here <= 0 || elapsed < 0.5) return line;
    const double rate = static_cast<double>(here) / elapsed;
    if (progress.what.find("/s") == std::string::npos) line += fmt::format("  {:.3g}/s", rate);
    if (progress.total > progress.done) {
        line +=
            "  " + duration(static_cast<double>(progress.total - progress.done) / rate) + " left";
    }
    return line;
}

void ProgressLine::show(const Progress& progress) {
    const Clock::time_point now = Clock::now();
    // First report, or another part of the job.
    if (first_done_ < 0 || progress.done < last_done_) {
        first_done_ = progress.done;
        started_ = now;
        shown_ = now - std::chrono::hours(1);
    }
    last_done_ = progress.done;
    const double pause = terminal_ ? 0.1 : 5;
    const bool last = progress.total > 0 && progress.done >= progress.total;
    if (!last && seconds_between(shown_, now) < pause) return;
    shown_ = now;
    const std::string line = printable_line(words(progress, now));
    if (terminal_) {
        fmt::print(stderr, "\r\033[K{} {}", progress_bar(progress.done, progress.total, 24), line);
        std::fflush(stderr);
        open_ = true;
    } else {
        fmt::print(stderr, "{}\n", line);
    }
}

void ProgressLine::finish() {
    if (open_) fmt::print(stderr, "\n");
    open_ = false;
    first_done_ = last_done_ = -1;
}

}  // namespace aft::app
