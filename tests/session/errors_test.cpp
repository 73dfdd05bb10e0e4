// What goes wrong while a session trains: nothing is lost, and it goes on when the cause is gone.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <numeric>

#include "core/files.h"
#include "tests/session/session_bench.h"

namespace aft {
namespace {

TEST(SessionErrors, WhatIsTakenBackWhileItOpensLeavesNothing) {
    const Scratch scratch;
    int traces = 0;  // a busy machine may let some of them begin
    for (int i = 0; i < 10; ++i) {
        const fs::path run = scratch / std::to_string(i);
        { const Session session(new_run(run.string(), true)); }
        traces += fs::exists(run) ? 1 : 0;
    }
    EXPECT_LT(traces, 10);
}

// As on a full disk: the step is trained, its line cannot be written.
TEST(SessionErrors, WhatCannotBeWrittenPausesAndNothingIsLost) {
    const Scratch scratch;
    const fs::path log = scratch / "run/metrics.jsonl", aside = scratch / "aside";
    Session session(new_run(scratch / "run", true));
    ASSERT_TRUE(wait_step(session, 3));
    session.pause();
    ASSERT_TRUE(wait_state(session, RunState::paused));
    const int64_t before = session.status().step;
    fs::rename(log, aside);
    fs::create_directory(log);
    session.start();
    ASSERT_TRUE(wait_for([&] { return !session.status().error.empty(); }));
    EXPECT_NE(session.status().error.find("metrics.jsonl"), std::string::npos)
        << session.status().error;
    EXPECT_EQ(session.status().state, RunState::paused);
    EXPECT_TRUE(session.status().can_go_on);
    EXPECT_EQ(session.status().step, before + 1);
    session.save();  // the weights are, though the log is not
    ASSERT_TRUE(wait_for([&] { return session.status().saved_step == before + 1; }));
    fs::remove(log);
    fs::rename(aside, log);
    session.save();
    ASSERT_TRUE(wait_for([&] { return session.status().error.empty(); }));
    session.step(3);
    ASSERT_TRUE(wait_step(session, before + 4));
    EXPECT_EQ(session.status().error, "");
    std::vector<int64_t> steps;
    std::ifstream in(log);
    for (std::string line; std::getline(in, line);)
        steps.push_back(nlohmann::json::parse(line).at("step"));
    std::vector<int64_t> wanted(static_cast<size_t>(before + 4));
    std::iota(wanted.begin(), wanted.end(), 1);
    EXPECT_EQ(steps, wanted);
}

}  // namespace
}  // namespace aft
