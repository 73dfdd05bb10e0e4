#include "app/ui/frame_log.h"

#include <fmt/format.h>

#include <cstdlib>

namespace aft::app {

FrameLog::FrameLog() {
    const char* path = std::getenv("AFTERIMAGE_FRAMES");
    if (path != nullptr && *path != 0) file_.open(path, std::ios::trunc);
}

void FrameLog::add(double seconds, double draw_ms, std::string_view state) {
    if (!file_.is_open()) return;
    file_ << fmt::format("{:.4f}\t{:.3f}\t{}\n", seconds, draw_ms, state) << std::flush;
}

}  // namespace aft::app
