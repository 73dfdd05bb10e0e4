// What a session would give the window, without one, and the config of a tiny run with one.
#pragma once
#include <cmath>
#include <functional>
#include <memory>

#include "app/frame/frame.h"
#include "tests/app/traits.h"
#include "tests/session/session_fixture.h"

namespace aft::app {

// The run of the session tests, smaller still.
inline Config tiny_config() {
    Config config = small_run();
    config.name = "tiny";
    config.model.dim = 8;
    config.model.own["factors"] = 4;
    config.train.batch = 2;
    config.train.steps = 60;
    config.train.checkpoint_every = 20;
    return config;
}

// A status and curves as a session would give them, without one.
inline void feed_small(Ui& ui) {
    Status& s = ui.status;
    s.state = RunState::paused;
    s.name = "fed";
    s.path = "runs/fed";
    s.can_train = true;
    s.config = tiny_config();
    s.step = 40;
    s.target_step = 60;
    s.saved_step = 20;
    s.metric_words = "bits/dim";
    s.metric = 1.5;
    s.layers = {{.bias_norm = 1.0, .parameters = 10}, {.bias_norm = 2.0, .parameters = 10}};
    s.tokens = 64;
    s.grid_height = s.grid_width = 8;
    auto curves = std::make_shared<Curves>();
    for (int i = 1; i <= 40; ++i) {
        curves->step.push_back(i);
        curves->columns["loss"].push_back(1.4 / i + 0.7);
        curves->columns["validation.loss"].push_back(i % 20 == 0 ? 0.8 : std::nan(""));
        curves->columns["grad_norm"].push_back(0.5);
        curves->columns["lr"].push_back(1e-3);
        curves->columns["bias_norm.layer.0"].push_back(0.1 * i);
        curves->columns["bias_norm.layer.1"].push_back(0.2 * i);
        curves->columns["timing.step_ms"].push_back(20);
    }
    curves->events = {{20, "save", ""}, {30, "learning-rate", "train.learning_rate = 1e-3"}};
    s = with_traits(s);
    ui.curves = curves;
    ui.history = {0, 20, 40};
}

inline void feed_error(Ui& ui) {
    feed_small(ui);
    ui.status.error = "NaN in layer 1, exp(K) of head 0; the step was not applied";
}

inline FrameOptions fed(std::function<void(Ui&)> feed) {
    FrameOptions options;
    options.feed = std::move(feed);
    return options;
}

}  // namespace aft::app
