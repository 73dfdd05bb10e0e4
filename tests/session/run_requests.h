// Requests for the tiny runs that tests of the session and of the window open. Tests only.
#pragma once
#include <string>

#include "model/requests.h"
#include "tests/model/device_name.h"
#include "tests/model/mirror_config.h"

namespace aft {

// mirror_config() that trains until it is stopped.
inline Config small_run() {
    Config config = mirror_config();
    config.name = "small";
    config.train.steps = 100000;
    config.train.schedule_steps = 200;
    config.train.validate_every = 20;
    config.train.validate_examples = 4;
    config.train.checkpoint_every = 50;
    config.train.history_frames = 8;
    return config;
}

inline OpenRequest new_run(const std::string& out, bool autostart = false) {
    OpenRequest request;
    request.config = small_run();
    request.out = out;
    request.autostart = autostart;
    request.device = test_device_name();
    return request;
}

// A run in `out` that saves every so many steps and keeps the newest `keep`; 0 = all.
inline OpenRequest run_that_saves(const std::string& out, int64_t every, int64_t keep = 0) {
    OpenRequest request = new_run(out);
    request.config->train.checkpoint_every = every;
    request.config->train.keep_checkpoints = keep;
    return request;
}

inline OpenRequest open_path(const std::string& path) {
    OpenRequest request;
    request.path = path;
    request.device = test_device_name();
    return request;
}

}  // namespace aft
