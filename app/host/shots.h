// Shots: pictures of every workspace and state of the window, of a model that is really open. Main
// thread.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace aft::app {

struct ShotRequest {
    std::vector<std::string> names;  // workspaces or shot names; empty = all
    std::string open, out, device = "cpu";
    int width = 0, height = 0;  // 0 = as the shot wants it
    double scale = 0;           // 0 = as the shot wants it
};

struct ShotFile {
    std::string path;
    int64_t width = 0, height = 0;  // pixels
};

// Returns what was written. A demo run is trained, half a minute of it, for pictures of a training
// (all have some) and for every picture of a model without `open`.
std::vector<ShotFile> shoot_window(const ShotRequest& request,
                                   const std::function<void(const std::string&)>& note);

}  // namespace aft::app
