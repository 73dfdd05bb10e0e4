// What Clicks tells of what it reached, and of what it did not.
#include "tests/app/frame/clicks.h"

namespace aft::app {

std::vector<std::string> Clicks::not_done(bool is_lost) const {
    std::vector<std::string> out;
    for (const auto& [id, known] : controls_)
        if (!known.is_done() && known.frames >= kSeenFrames && (known.seen == 0) == is_lost)
            out.push_back(fmt::format(
                "{} ({} in {}): pressed {}, {} kinds of nonsense, tried {}, "
                "came up after {}",
                id, known.kind, known.workspace, known.reached, known.nonsense.size(), known.tries,
                fmt::join(ways_.contains(id) ? ways_.at(id) : Ways{}, ", ")));
    return out;
}

std::string Clicks::summary() const {
    int64_t reached = 0, fields = 0;
    for (const auto& [id, known] : controls_) {
        reached += known.reached > 0 ? 1 : 0;
        fields += known.is_field() ? 1 : 0;
    }
    std::string out = fmt::format(
        "{} of {} controls, {} fields, {} actions, {} frames, longest {:.1f} ms after: {}", reached,
        controls_.size(), fields, actions_, driver_.frames, driver_.longest_ms,
        driver_.longest_after);
    for (const auto& [id, known] : controls_)
        if (!known.is_done() && known.frames < kSeenFrames)
            out += fmt::format("\n      flashed by: {} ({} frames, {} presses)", id, known.frames,
                               known.reached);
    return out;
}

}  // namespace aft::app
