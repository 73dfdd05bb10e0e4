// Progress on standard error: one line that is rewritten on a terminal, with bar, rate and time
// left; elsewhere a plain line every few seconds. One thread at a time.
#pragma once
#include <chrono>
#include <cstdint>
#include <string>

#include "core/progress.h"

namespace aft::app {

class ProgressLine {
  public:
    ProgressLine();
    void show(const Progress& progress);
    void finish();  // ends the line, so that other text can follow

  private:
    using Clock = std::chrono::steady_clock;
    [[nodiscard]] std::string words(const Progress& progress, Clock::time_point now) const;

    bool terminal_, open_ = false;
    int64_t first_done_ = -1, last_done_ = -1;
    Clock::time_point started_, shown_;
};

// "[#####.....]  50 %"; total 0 = "".
[[nodiscard]] std::string progress_bar(int64_t done, int64_t total, int width);

}  // namespace aft::app
