// Speech: with AFTERIMAGE_SPEAK=COMMAND, the standard input of that command gets a line of text
// whenever the keyboard comes to another control, its value changes, another workspace is shown or
// a message comes up: "espeak-ng", "spd-say --pipe-mode", "cat > FILE". For users who do not see
// the screen. Window thread; never waits: lines that the command does not take are left out.
#pragma once
#include <sys/types.h>

#include <set>
#include <string>

#include "app/state/ui.h"
#include "core/system/spawn.h"

namespace aft::app {

class Speech {
  public:
    Speech();  // starts the command by /bin/sh; Error if that cannot be. Without it: does nothing
    ~Speech();
    Speech(const Speech&) = delete;
    Speech& operator=(const Speech&) = delete;
    void follow(const Ui& ui);  // after a frame

  private:
    void say(const std::string& line);
    OwnedFd input_;       // of the command
    pid_t process_ = -1;  // -1: there is none, or it has ended
    std::string last_, workspace_;
    std::set<std::string> messages_;  // of the last frame
};

// "Target step, field, 60"; "Rewind, button, not now: nothing is saved yet".
[[nodiscard]] std::string spoken_words(const WidgetRecord& widget);

}  // namespace aft::app
