// Commands of the program. Room = one .cpp with one exported function `CommandRoom
// NAME_command();`, listed in rooms.cpp. A room registers its options on a CLI11 subcommand and
// hands back what to do after parsing. Main thread. A run never prints anything but its result on
// standard output.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/rooms.h"

namespace CLI {
class App;
}

namespace aft::app {

struct Globals {                  // flags of the program, before or after the command
    std::string device = "auto";  // cpu, cuda, auto: handed to initialize_model and to the jobs
    int64_t threads = 0;          // 0 = as many as there are cores
    bool verbose = false;
};

// Does the work; returns the exit code (0 or 130). Errors are thrown (core/check.h).
using CommandRun = std::function<int(const Globals& globals)>;

struct CommandRoom {
    RoomInfo info;
    std::string example;  // one command line that works, shown by --help
    CommandRun (*setup)(CLI::App& command) = nullptr;
    // Whether it draws the window with these flags; null = never. Drawing and training then share
    // the cores.
    bool (*draws)(const CLI::App& command) = nullptr;
};

// In the order of --help. Without the window (AFT_WINDOW=0): no window, shot, script.
[[nodiscard]] const std::vector<CommandRoom>& commands();

}  // namespace aft::app
