#include "app/host/frame_log.h"

#include <fmt/format.h>

#include <cstdio>

#include "app/frame/frame.h"
#include "core/check.h"
#include "core/environment.h"

namespace aft::app {

FrameLog::FrameLog() {
    const std::string path = variable("AFTERIMAGE_FRAMES");
    if (path.empty()) return;
    file_.open(path, std::ios::trunc);
    if (!file_) fail("AFTERIMAGE_FRAMES: '{}' cannot be written", path);
}

void FrameLog::add(double seconds, double draw_ms, std::string_view state) {
    if (!file_.is_open()) return;
    file_ << fmt::format("{:.4f}\t{:.3f}\t{}\n", seconds, draw_ms, state) << std::flush;
}

void write_dump(const PaneContext& ui) {
    static const std::string path = variable("AFTERIMAGE_DUMP");
    static bool was_written = false;  // then a full disk does not end a training
    if (path.empty()) return;
    const std::string temporary = path + ".part", text = dump(ui);
    bool is_there = false;  // whole
    if (FILE* const file = std::fopen(temporary.c_str(), "w")) {
        is_there = std::fwrite(text.data(), 1, text.size(), file) == text.size();
        is_there = std::fclose(file) == 0 && is_there;
        is_there = is_there && std::rename(temporary.c_str(), path.c_str()) == 0;
        if (!is_there) std::remove(temporary.c_str());
    }
    // Who waits for it would wait for ever.
    if (!is_there && !was_written) fail("AFTERIMAGE_DUMP: '{}' cannot be written", path);
    was_written = true;
}

}  // namespace aft::app
