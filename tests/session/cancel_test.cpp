// Probes that wait: cancelled ones leave the line or are stopped, and are answered when they are
// asked for again; what a visible pane still asks for comes first.
#include <gtest/gtest.h>

#include <thread>

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

TEST(ProbeOrder, WhatIsNotAskedForAnyMoreComesLast) {
    session::RequestSlots slots;
    for (const int layer : {0, 1, 2}) slots.ask(probe("symmetry", layer));
    std::this_thread::sleep_for(std::chrono::milliseconds(400));  // another pane by now
    slots.ask(probe("attention", 3));
    slots.ask(probe("symmetry", 2));
    for (const int layer : {2, 3, 0, 1}) {  // each group in the order of its first question
        const auto next = slots.next_probe();
        ASSERT_TRUE(next.has_value());
        EXPECT_EQ(next->request.layer, layer);
    }
}

// Asks again and again for this one, as a visible pane does, for so long.
void look_at(session::RequestSlots& slots, const ProbeRequest& request, int ms) {
    for (int passed = 0; passed < ms; passed += 50) {
        slots.ask(request);
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
}

TEST(ProbeCancel, WhatNobodyLooksAtAnyMoreIsStopped) {
    session::RequestSlots slots;
    slots.ask(probe("trace"));
    const auto left = slots.next_probe();
    ASSERT_TRUE(left.has_value());
    std::this_thread::sleep_for(std::chrono::milliseconds(1200));
    slots.ask(probe("bias", 0));
    EXPECT_FALSE(left->stop.stop_requested()) << "an idle window asks for nothing";
    for (int i = 0; i < 200 && !left->stop.stop_requested(); ++i)  // a slow machine makes pauses
        look_at(slots, probe("bias", 0), 50);
    EXPECT_TRUE(left->stop.stop_requested());
    slots.ask(probe("trace"));  // somebody looks again
    for (const char* name : {"bias", "trace"}) EXPECT_EQ(slots.next_probe()->request.probe, name);
    for (int i = 0; i < 30; ++i) {  // both are visible
        look_at(slots, probe("trace"), 50);
        slots.ask(probe("bias", 0));
    }
    slots.ask(probe("trace"));
    EXPECT_EQ(slots.next_probe()->request.probe, "bias");
    EXPECT_FALSE(slots.next_probe().has_value()) << "the trace was being computed all the time";
}

TEST(ProbeCancel, ACompletionDoesNotWaitForWhatNobodyLooksAt) {
    session::RequestSlots slots;
    slots.ask(probe("trace"));
    slots.ask(probe("bias", 0));
    const auto seen = slots.next_probe();
    ASSERT_TRUE(seen.has_value());
    static_cast<void>(slots.complete({}));
    EXPECT_FALSE(seen->stop.stop_requested()) << "asked for just now";
    EXPECT_TRUE(slots.next_completion().has_value());
    slots.end_completion();
    std::this_thread::sleep_for(std::chrono::milliseconds(1100));
    const uint64_t id = slots.complete({});
    EXPECT_TRUE(seen->stop.stop_requested());
    EXPECT_TRUE(slots.is_completing(id));
    EXPECT_FALSE(slots.is_completing(id - 1));
    EXPECT_FALSE(slots.next_probe(/*still_asked=*/true).has_value());
    EXPECT_TRUE(slots.next_probe().has_value());
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
