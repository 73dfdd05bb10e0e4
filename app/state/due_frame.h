// DueFrame: a frame of a film, which the recorder (app/frame/cards/film_recorder.h) asks of the
// host (app/host/take_film_frame.h). Plain data; window thread.
#pragma once
#include <optional>
#include <string>

#include "core/images/image.h"

namespace aft::app {

struct DueFrame {
    bool is_due = false;         // what has just been drawn is to be taken
    std::optional<Image> taken;  // RGB; by the host, until the recorder has it
    std::string error;           // why the host could not
};

}  // namespace aft::app
