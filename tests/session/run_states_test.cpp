// The table of a run's states, against every pair of a state and an event that may happen.
#include "model/session/run_states.h"

#include <gtest/gtest.h>

#include <array>
#include <map>
#include <utility>

namespace aft::session {
namespace {

using S = RunState;
using E = RunEvent;

constexpr std::array kStates{S::empty,  S::opening,  S::ready,   S::running,
                             S::paused, S::stopping, S::stopped, S::error};

TEST(RunStates, EveryPairLeadsWhereItShould) {
    std::map<std::pair<S, E>, S> expected{
        {{S::opening, E::opened}, S::ready},  {{S::opening, E::followed}, S::running},
        {{S::opening, E::failed}, S::error},  {{S::running, E::owner_ended}, S::stopped},
        {{S::running, E::paused}, S::paused}, {{S::error, E::data_moved}, S::ready},
    };
    for (const S open : {S::ready, S::running, S::paused, S::stopping, S::stopped, S::error}) {
        if (open != S::stopping) expected[{open, E::begun}] = S::running;
        expected[{open, E::stop_asked}] = S::stopping;
        expected[{open, E::finished}] = S::stopped;
        expected[{open, E::rewound}] = S::paused;
        expected[{open, E::reopened}] = S::ready;
        expected[{open, E::held_up}] = S::paused;
        expected[{open, E::failed}] = S::error;
    }
    for (const S resting : {S::ready, S::paused, S::stopped})
        expected[{resting, E::followed}] = S::running;
    for (const S state : kStates)
        for (int i = 0; i <= static_cast<int>(E::failed); ++i) {
            const auto event = static_cast<E>(i);
            const auto found = expected.find({state, event});
            const auto next = next_state(state, event);
            EXPECT_EQ(next.has_value(), found != expected.end())
                << state_name(state) << ", event " << i;
            if (next && found != expected.end()) {
                EXPECT_EQ(*next, found->second) << state_name(state) << ", event " << i;
            }
        }
}

// Whatever happens to an open model, it can be trained again, and nothing leads back to opening it.
TEST(RunStates, NoOpenStateIsADeadEnd) {
    for (const S state : {S::ready, S::running, S::paused, S::stopped, S::error})
        EXPECT_EQ(next_state(state, E::begun), S::running) << state_name(state);
    for (const S state : kStates)
        for (int i = 0; i <= static_cast<int>(E::failed); ++i)
            EXPECT_NE(next_state(state, static_cast<E>(i)), S::opening);
}

}  // namespace
}  // namespace aft::session
