#include "model/session/run_states.h"

#include <array>

namespace aft::session {

namespace {

using S = RunState;
using E = RunEvent;

constexpr unsigned bit(S state) {
    return 1U << static_cast<unsigned>(state);
}
template <class... States>
constexpr unsigned any_of(States... states) {
    return (bit(states) | ...);
}

struct Transition {
    E event;
    unsigned from;
    S to;
};

constexpr unsigned kResting = any_of(S::ready, S::paused, S::stopped);
constexpr unsigned kOpen = kResting | any_of(S::running, S::stopping, S::error);

constexpr std::array kTransitions{
    Transition{E::opened, bit(S::opening), S::ready},
    Transition{E::followed, kResting | bit(S::opening), S::running},
    Transition{E::owner_ended, bit(S::running), S::stopped},
    Transition{E::begun, kResting | any_of(S::running, S::error), S::running},
    Transition{E::paused, bit(S::running), S::paused},
    Transition{E::stop_asked, kOpen, S::stopping},
    Transition{E::finished, kOpen, S::stopped},
    Transition{E::rewound, kOpen, S::paused},
    Transition{E::reopened, kOpen, S::ready},
    Transition{E::data_moved, bit(S::error), S::ready},
    Transition{E::held_up, kOpen, S::paused},
    Transition{E::failed, kOpen | bit(S::opening), S::error},
};

}  // namespace

std::optional<RunState> next_state(RunState state, RunEvent event) {
    for (const Transition& transition : kTransitions)
        if (transition.event == event && (transition.from & bit(state))) return transition.to;
    return std::nullopt;
}

}  // namespace aft::session
