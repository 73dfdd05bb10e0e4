#include "app/host/take_film_frame.h"

#include <utility>

#include "core/caught.h"
#include "model/system.h"

namespace aft::app {

void take_film_frame(Ui& ui, const FrameReader& source) {
    DueFrame& frame = ui.film_frame;
    if (!std::exchange(frame.is_due, false)) return;
    frame.error =
        error_words([&] { frame.taken = middle_of(source.pixels(), ui.picture); }, plain_words);
}

}  // namespace aft::app
