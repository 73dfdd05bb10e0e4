// Rows that start this program as a process of its own: a script stands in for it. Limits of time
// are for what hangs.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <thread>

#include "bench/bench.h"
#include "bench/timing/child.h"
#include "core/check.h"
#include "core/environment.h"
#include "core/files.h"

namespace aft::bench {
namespace {

using nlohmann::json;

std::string message_of(const std::function<void()>& work) {
    try {
        work();
    } catch (const Error& error) {
        return error.what();
    }
    return "no error";
}

ChildRequest shell(const std::string& script) {
    return {.program = "/bin/sh", .words = {"-c", script}, .variables = {}};
}

TEST(BenchChild, WaitsForLinesAndSaysWhenNoneCome) {
    const TemporaryFolder folder;
    const fs::path file = folder / "lines";
    Child child(shell("echo one > '" + file.string() + "'; echo two >> '" + file.string() +
                      "'; exec sleep 600"));
    EXPECT_GT(child.wait_for_lines({.file = file, .lines = 2, .at_most = 300}), 0);
    const std::string message = message_of([&] {
        child.wait_for_lines({.file = file, .lines = 3, .at_most = child.seconds() + 0.05});
    });
    EXPECT_NE(message.find("no line 3"), std::string::npos) << message;
    EXPECT_EQ(count_lines(folder / "missing"), 0);
}

TEST(BenchChild, SaysHowItEndedAndItsLastWords) {
    const auto end_of = [](const std::string& script) {
        Child child(shell(script));
        return message_of([&] { child.wait_for_lines({.file = "/nowhere", .at_most = 300}); });
    };
    const std::string failed = end_of("echo 'first' >&2; echo 'no such display' >&2; exit 3");
    EXPECT_NE(failed.find("exit code 3, its last words: no such display"), std::string::npos)
        << failed;
    const std::string killed = end_of("kill -9 $$");
    EXPECT_NE(killed.find("signal 9 (Killed)"), std::string::npos) << killed;
    const std::string missing = message_of([] { Child child({"/no/such/program", {}, {}}); });
    EXPECT_NE(missing.find("No such file"), std::string::npos) << missing;
}

TEST(BenchChild, AStopEndsTheWaitAndTheChild) {
    std::stop_source stop;
    Child child(shell("exec sleep 600"));
    const std::jthread later([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        stop.request_stop();
    });
    EXPECT_THROW(child.wait_for_lines({.file = "/nowhere"}, stop.get_token()), Interrupted);
    EXPECT_LT(child.seconds(), 300);
}

TEST(BenchChild, HasAProcessGroupOfItsOwn) {
    const TemporaryFolder folder;
    const fs::path file = folder / "group";
    Child child(shell("echo $$ $(ps -o pgid= -p $$) > '" + file.string() + "'; exec sleep 600"));
    child.wait_for_lines({.file = file, .at_most = 300});
    std::ifstream in(file);
    int64_t process = 0, group = -1;
    in >> process >> group;
    EXPECT_EQ(process, group);
}

// Trains and draws until it is ended: lines and frames, about five milliseconds each.
constexpr const char* kScript = R"(#!/bin/sh
for word; do run=$word; done
[ "$1" = window ] && run=/tmp/nowhere
[ "$1" = window ] || mkdir -p "$run"
while :; do
    [ "$1" = window ] || echo line >> "$run/metrics.jsonl"
    [ -z "$AFTERIMAGE_FRAMES" ] || printf '0.1\t4.0\tRunning\n' >> "$AFTERIMAGE_FRAMES"
    sleep 0.005
done
)";

struct Display {  // a name is enough for a script
    std::string before;
    explicit Display(const char* name) : before(variable("DISPLAY")) { setenv("DISPLAY", name, 1); }
    ~Display() {
        if (before.empty())
            unsetenv("DISPLAY");
        else
            setenv("DISPLAY", before.c_str(), 1);
    }
};

std::string script_in(const TemporaryFolder& folder) {
    const fs::path file = folder / "program";
    std::ofstream(file) << kScript;
    fs::permissions(file, fs::perms::owner_all);
    return file.string();
}

json rows_with(const std::string& filter, const std::string& program) {
    const Display display(":77");
    const json result = run({.filter = filter, .rounds = 2, .quick = true, .program = program}, {});
    EXPECT_NE(words(result).find(filter), std::string::npos);
    return result["workloads"][0]["rows"];
}

TEST(BenchProgram, TheFirstStepAndTheFirstFrameAreTimed) {
    const TemporaryFolder folder;
    const json rows = rows_with("startup", script_in(folder));
    ASSERT_EQ(rows.size(), 2U);
    for (const json& row : rows) {
        ASSERT_EQ(row["kind"], "program") << row;
        EXPECT_GT(row["contestants"][0]["median"], 0) << row;
        EXPECT_TRUE(row["others"].is_number()) << row;
        EXPECT_EQ(row["accept"][0]["state"], "not judged") << row;
    }
}

TEST(BenchProgram, TrainingIsTimedWithTheWindowAndWithout) {
    const TemporaryFolder folder;
    const json row = rows_with("gui_train", script_in(folder))[0];
    ASSERT_EQ(row["contestants"].size(), 3U) << row;
    EXPECT_GT(row["contestants"][0]["median"], 0);
    EXPECT_EQ(row["contestants"][2]["median"], 4.0);
    EXPECT_GE(row["contestants"][2]["rounds"], 60);  // ten steps and a round of 55, about
    EXPECT_EQ(row["note"],
              "the ratio is the median of the rounds' own; 99 % of the frames took at most 4.0 ms "
              "to draw");
}

TEST(BenchProgram, ARowThatFailsLeavesTheOthers) {
    const Display display(":77");
    const json result =
        run({.filter = "startup", .rounds = 2, .quick = true, .program = "/bin/false"}, {});
    EXPECT_EQ(result["failed"], 2);
    const json& rows = result["workloads"][0]["rows"];
    ASSERT_EQ(rows.size(), 2U);
    EXPECT_EQ(rows[0]["case"], "first training step");
    EXPECT_NE(rows[0]["note"].get<std::string>().find("exit code 1"), std::string::npos) << rows;
    for (const std::string& text : {words(result), markdown(result)}) {
        EXPECT_NE(text.find("FAILED: bench: '/bin/false train"), std::string::npos) << text;
        EXPECT_NE(text.find("Rows that failed: 2."), std::string::npos) << text;
    }
    EXPECT_EQ(plot(result), "");
}

}  // namespace
}  // namespace aft::bench
