// Probes that wait: cancelled ones leave the line or are stopped, and are answered when they are
// asked for again; what a visible pane still asks for comes first.
#include <gtest/gtest.h>

#include <chrono>

#include "model/session/request_slots.h"
#include "tests/session/session_fixture.h"

namespace aft {
namespace {

TEST(ProbeCancel, TakesOutWhatWaitsAndStopsWhatIsComputed) {
    session::RequestSlots slots;
    slots.ask(probe("bias", 0));
    slots.ask(probe("bias", 1));
    slots.ask(probe("bias", 0), false);
    const auto next = slots.next_probe();
    ASSERT_TRUE(next.has_value());
    EXPECT_EQ(next->request.layer, 1);
    slots.ask(probe("bias", 0), false);  // not the one that is computed
    EXPECT_FALSE(next->stop.stop_requested());
    slots.ask(probe("bias", 1), false);
    EXPECT_TRUE(next->stop.stop_requested());
    slots.ask(probe("bias", 1));  // at once, while the worker ends
    const auto again = slots.next_probe();
    ASSERT_TRUE(again.has_value());
    EXPECT_FALSE(again->stop.stop_requested());
    EXPECT_FALSE(slots.next_probe().has_value());
}

// A moment of a clock that the test itself moves.
session::Clock::time_point after_ms(int ms) {
    return session::Clock::time_point() + std::chrono::hours(1) + std::chrono::milliseconds(ms);
}

TEST(ProbeOrder, WhatIsNotAskedForAnyMoreComesLast) {
    session::RequestSlots slots;
    for (const int layer : {0, 1, 2}) slots.ask(probe("symmetry", layer), true, after_ms(0));
    slots.ask(probe("attention", 3), true, after_ms(400));  // another pane by now
    slots.ask(probe("symmetry", 2), true, after_ms(400));
    for (const int layer : {2, 3, 0, 1}) {  // each group in the order of its first question
        const auto next = slots.next_probe(false, after_ms(400));
        ASSERT_TRUE(next.has_value());
        EXPECT_EQ(next->request.layer, layer);
    }
}

TEST(ProbeCancel, WhatNobodyLooksAtAnyMoreIsStopped) {
    session::RequestSlots slots;
    slots.ask(probe("trace"), true, after_ms(0));
    const auto left = slots.next_probe(false, after_ms(0));
    ASSERT_TRUE(left.has_value());
    slots.ask(probe("bias", 0), true, after_ms(1200));
    EXPECT_FALSE(left->stop.stop_requested()) << "an idle window asks for nothing";
    for (int ms = 1250; ms < 2200; ms += 50) {  // as a visible pane asks, frame after frame
        slots.ask(probe("bias", 0), true, after_ms(ms));
        EXPECT_FALSE(left->stop.stop_requested()) << "for " << ms - 1200 << " ms alone";
    }
    slots.ask(probe("bias", 0), true, after_ms(2200));
    EXPECT_TRUE(left->stop.stop_requested());
    slots.ask(probe("trace"), true, after_ms(2250));  // somebody looks again
    for (const char* name : {"bias", "trace"})
        EXPECT_EQ(slots.next_probe(false, after_ms(2250))->request.probe, name);
    for (int ms = 2250; ms < 4250; ms += 50) {  // both are visible
        slots.ask(probe("trace"), true, after_ms(ms));
        slots.ask(probe("bias", 0), true, after_ms(ms));
    }
    slots.ask(probe("trace"), true, after_ms(4250));
    EXPECT_EQ(slots.next_probe(false, after_ms(4250))->request.probe, "bias");
    EXPECT_FALSE(slots.next_probe(false, after_ms(4250)).has_value())
        << "the trace was being computed all the time";
}

TEST(ProbeCancel, ACompletionDoesNotWaitForWhatNobodyLooksAt) {
    session::RequestSlots slots;
    slots.ask(probe("trace"), true, after_ms(0));
    slots.ask(probe("bias", 0), true, after_ms(0));
    const auto seen = slots.next_probe(false, after_ms(0));
    ASSERT_TRUE(seen.has_value());
    static_cast<void>(slots.complete({}, after_ms(300)));
    EXPECT_FALSE(seen->stop.stop_requested()) << "asked for just now";
    EXPECT_TRUE(slots.next_completion().has_value());
    slots.end_completion();
    const uint64_t id = slots.complete({}, after_ms(1100));
    EXPECT_TRUE(seen->stop.stop_requested());
    EXPECT_TRUE(slots.is_completing(id));
    EXPECT_FALSE(slots.is_completing(id - 1));
    EXPECT_FALSE(slots.next_probe(/*still_asked=*/true, after_ms(1100)).has_value());
    EXPECT_TRUE(slots.next_probe(false, after_ms(1100)).has_value());
}

TEST(ProbeCancel, TheWorkerAnswersTheNextOne) {
    const Scratch scratch;
    TestSession session(new_run(scratch / "run"));
    ASSERT_NE(answer(session, probe("bias", 0)), nullptr);
    for (int i = 0; i < 20; ++i) {
        const ProbeRequest request = probe("formation");
        static_cast<void>(session.probes().ask(request, false));
        session.probes().cancel(request);
    }
    EXPECT_NE(answer(session, probe("symmetry", 1)), nullptr);
    EXPECT_NE(answer(session, probe("formation")), nullptr);
}

}  // namespace
}  // namespace aft
