// FrameLog: with AFTERIMAGE_FRAMES=FILE, one line for every drawn frame of the real window, for
// tests that ask how many frames were drawn and how long they took. Window thread. Without the
// variable it does nothing.
#pragma once
#include <fstream>
#include <string_view>

namespace aft::app {

class FrameLog {
  public:
    FrameLog();  // empties the file
    // seconds since the start, milliseconds of this frame, state of the run; tabs between them
    void add(double seconds, double draw_ms, std::string_view state);

  private:
    std::ofstream file_;
};

}  // namespace aft::app
