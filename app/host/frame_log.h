// What tests watch of the frames. FrameLog: with AFTERIMAGE_FRAMES=FILE, one line for every drawn
// frame of the real window, for tests that ask how many frames were drawn and how long they took.
// Window thread. Without the variable it does nothing.
#pragma once
#include <fstream>
#include <string_view>

namespace aft::app {

struct PaneContext;

class FrameLog {
  public:
    FrameLog();  // empties the file; Error if it cannot be written
    // seconds since the start, milliseconds of this frame, state of the run; tabs between them
    void add(double seconds, double draw_ms, std::string_view state);

  private:
    std::ofstream file_;
};

// AFTERIMAGE_DUMP=FILE: every drawn frame's text dump (dump of frame.h) rewrites FILE, whole or not
// at all; for tests and the tutorial. The first call: Error if it cannot be written.
void write_dump(const PaneContext& ui);

}  // namespace aft::app
