// Training through the session: states, commands in every order, saving, resuming, errors.
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <random>
#include <set>

#include "core/files.h"
#include "model/jobs/summary.h"
#include "tests/session/session_fixture.h"

namespace aft {
namespace {

TEST(SessionTraining, ANewRunOpensReadyAndWritesNothing) {
    const Scratch scratch;
    TestSession session(new_run(scratch / "run"));
    ASSERT_TRUE(wait_state(session, RunState::ready));
    const Status status = session.status();
    EXPECT_TRUE(status.can_train);
    EXPECT_FALSE(status.following);
    EXPECT_EQ(status.step, 0);
    EXPECT_EQ(status.tokens, 64);
    EXPECT_EQ(status.grid_height, 8);
    EXPECT_EQ(status.config.model.levels, 4);
    EXPECT_EQ(status.metric_words, "bits/dim");
    EXPECT_GT(status.parameters, 1000);
    ASSERT_EQ(status.layers.size(), 2u);
    EXPECT_GT(status.layers[1].parameters, 100);
    EXPECT_FALSE(std::filesystem::exists(scratch / "run"));
}

TEST(SessionTraining, StartPauseStepStop) {
    const Scratch scratch;
    TestSession session(new_run(scratch / "run"));
    session.run().start();
    ASSERT_TRUE(wait_step(session, 5));
    EXPECT_EQ(session.status().state, RunState::running);
    session.run().pause();
    ASSERT_TRUE(wait_state(session, RunState::paused));
    const int64_t paused_at = session.status().step;
    session.run().note("still here");
    ASSERT_TRUE(wait_for([&] { return !session.curves()->events.empty(); }));
    EXPECT_EQ(session.curves()->events.back().step, paused_at);
    EXPECT_EQ(session.status().step, paused_at);

    session.run().step(1);
    ASSERT_TRUE(wait_step(session, paused_at + 1));
    session.run().step(3);
    ASSERT_TRUE(wait_step(session, paused_at + 4));
    ASSERT_TRUE(wait_state(session, RunState::paused));
    EXPECT_EQ(session.status().step, paused_at + 4);

    session.run().stop();
    ASSERT_TRUE(wait_state(session, RunState::stopped));
    EXPECT_EQ(session.status().saved_step, paused_at + 4);
    const auto curves = session.curves();
    ASSERT_EQ(curves->step.size(), static_cast<size_t>(paused_at + 4));
    for (const auto& [name, column] : curves->columns)
        EXPECT_EQ(column.size(), curves->step.size()) << name;
    EXPECT_TRUE(curves->columns.contains("loss"));

    session.run().run_until(paused_at + 30);
    ASSERT_TRUE(wait_step(session, paused_at + 30));
    ASSERT_TRUE(wait_state(session, RunState::stopped));
    EXPECT_EQ(session.status().step, paused_at + 30);
    EXPECT_EQ(session.status().saved_step, paused_at + 30);
}

TEST(SessionTraining, CommandsInAnyOrder) {
    std::mt19937 random(7);
    for (int round = 0; round < 3; ++round) {
        const Scratch scratch;
        TestSession session(new_run(scratch / "run"));
        int64_t seen = 0;
        for (int i = 0; i < 40; ++i) {
            switch (random() % 9) {
                case 0:
                    session.run().start();
                    break;
                case 1:
                    session.run().pause();
                    break;
                case 2:
                    session.run().step(1 + static_cast<int64_t>(random() % 3));
                    break;
                case 3:
                    session.run().stop();
                    break;
                case 4:
                    session.run().save();
                    break;
                case 5:
                    session.run().set("train.learning_rate", "0.001");
                    break;
                case 6:
                    session.pace().yield_for_ms(2);
                    break;
                case 7:
                    session.run().run_until(seen + 10);
                    break;
                default:
                    session.run().note("here");
                    break;
            }
            if (random() % 2) wait_a_little(static_cast<int64_t>(random() % 12));
            const Status status = session.status();
            ASSERT_NE(status.state, RunState::error) << status.error;
            ASSERT_GE(status.step, seen);
            seen = status.step;
        }
        session.run().stop();
        session.run().step(2);
        ASSERT_TRUE(wait_state(session, RunState::paused));
        EXPECT_EQ(session.status().error, "");
    }
}

TEST(SessionTraining, ClosingSavesAndTheFolderResumes) {
    const Scratch scratch;
    int64_t step = 0;
    {
        TestSession session(new_run(scratch / "run", true));
        ASSERT_TRUE(wait_step(session, 7));
        session.run().pause();
        ASSERT_TRUE(wait_state(session, RunState::paused));
        step = session.status().step;
    }
    TestSession session(open_path(scratch / "run"));
    ASSERT_TRUE(wait_state(session, RunState::ready));
    EXPECT_EQ(session.status().step, step);
    EXPECT_EQ(session.status().name, "small");
    EXPECT_EQ(session.curves()->step.size(), static_cast<size_t>(step));
    session.run().step(2);
    ASSERT_TRUE(wait_step(session, step + 2));
    ASSERT_TRUE(wait_state(session, RunState::paused));
    const auto curves = session.curves();
    EXPECT_EQ(std::set<double>(curves->step.begin(), curves->step.end()).size(),
              curves->step.size());
    EXPECT_EQ(curves->step.back(), static_cast<double>(step + 2));
}

TEST(SessionTraining, SettingsChangeLiveOrSayWhyNot) {
    const Scratch scratch;
    TestSession session(new_run(scratch / "run"));
    ASSERT_TRUE(wait_state(session, RunState::ready));
    session.run().set("model.dim", "32");  // before the first step anything may change
    ASSERT_TRUE(wait_for([&] { return session.status().config.model.dim == 32; }));
    session.run().step(1);
    ASSERT_TRUE(wait_state(session, RunState::paused));
    session.run().set("train.learning_rate", "0.0005");
    ASSERT_TRUE(wait_for([&] { return session.status().config.train.learning_rate == 0.0005; }));
    EXPECT_TRUE(wait_for([&] {
        for (const Event& event : session.curves()->events)
            if (event.kind == "learning-rate" && event.step == 1) return true;
        return false;
    }));
    session.run().set("model.dim", "64");
    EXPECT_TRUE(
        wait_for([&] { return session.status().message.find("model.dim") != std::string::npos; }));
    session.run().set("train.learning_rate", "fast");
    EXPECT_TRUE(
        wait_for([&] { return session.status().message.find("fast") != std::string::npos; }));
    EXPECT_EQ(session.status().state, RunState::paused);
    session.run().set("train.steps", "3");
    ASSERT_TRUE(wait_for([&] { return session.status().target_step == 3; }));
    session.run().start();
    ASSERT_TRUE(wait_state(session, RunState::stopped));
    EXPECT_EQ(session.status().step, 3);
    session.run().start();
    EXPECT_TRUE(
        wait_for([&] { return session.status().message.find("target") != std::string::npos; }));
}

// Overwrites the first value of a stored tensor.
void put_nan(const std::string& file, const std::string& tensor) {
    std::fstream stream(file, std::ios::binary | std::ios::in | std::ios::out);
    uint64_t length = 0;
    stream.read(reinterpret_cast<char*>(&length), sizeof length);
    std::string header(length, ' ');
    stream.read(header.data(), static_cast<std::streamsize>(length));
    const auto offset = nlohmann::json::parse(header)[tensor]["data_offsets"][0].get<uint64_t>();
    const float nan = std::nanf("");
    stream.seekp(static_cast<std::streamoff>(8 + length + offset));
    stream.write(reinterpret_cast<const char*>(&nan), sizeof nan);
}

TEST(SessionTraining, ANaNPausesAndNamesTheLayer) {
    const Scratch scratch;
    {
        TestSession session(new_run(scratch / "run"));
        session.run().run_until(2);
        ASSERT_TRUE(wait_state(session, RunState::stopped));
    }
    put_nan(scratch / "run/checkpoints/step-00000002.safetensors", "blocks.1.mixer.k.weight");
    TestSession session(open_path(scratch / "run"));
    ASSERT_TRUE(wait_state(session, RunState::ready));
    session.run().run_until(10);
    ASSERT_TRUE(wait_state(session, RunState::paused));
    EXPECT_EQ(session.status().step, 2);
    EXPECT_NE(session.status().error.find("blocks.1"), std::string::npos) << session.status().error;
    EXPECT_EQ(session.curves()->events.back().kind, "error");
    EXPECT_EQ(session.curves()->events.back().step, 3) << "the step that did not come";
    EXPECT_EQ(summarize_run((scratch / "run").string()).state, "failed") << "as Home lists it";
}

TEST(SessionTraining, ATakenFolderIsAnErrorInWords) {
    const Scratch scratch;
    std::filesystem::create_directories(scratch / "run");
    std::ofstream(scratch / "run/other.txt") << "something";
    TestSession session(new_run(scratch / "run"));
    ASSERT_TRUE(wait_state(session, RunState::ready));
    session.run().start();
    ASSERT_TRUE(wait_state(session, RunState::error));
    EXPECT_NE(session.status().error.find(scratch / "run"), std::string::npos);
}

TEST(SessionTraining, YieldingHoldsTheTrainerBack) {
    const Scratch scratch;
    TestSession session(new_run(scratch / "run", true));
    ASSERT_TRUE(wait_step(session, 3));
    const auto start = std::chrono::steady_clock::now();
    session.pace().yield_for_ms(1000);
    // At the step where the trainer waits, whatever the status says.
    session.run().note("held back");
    ASSERT_TRUE(wait_for([&] { return !session.curves()->events.empty(); }));
    const int64_t before = session.curves()->events.back().step;
    ASSERT_TRUE(wait_step(session, before + 1));
    EXPECT_GE(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(1000));
    session.pace().set_share(0.5);
    ASSERT_TRUE(wait_step(session, before + 110));
}

// Without a break the training would take days, and the pause an hour.
TEST(SessionTraining, ClosingBreaksOffEveryState) {
    const Scratch scratch;
    int number = 0;
    const auto close = [&](const std::function<void(Session&)>& work) {
        OpenRequest request = new_run(scratch / std::to_string(++number));
        request.config->train.steps = 1'000'000'000;
        auto session = std::make_unique<TestSession>(request);
        work(*session);
        const auto start = std::chrono::steady_clock::now();
        session.reset();
        EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::minutes(5));
    };
    close([](Session&) {});  // still opening
    close([](Session& s) { ASSERT_TRUE(wait_state(s, RunState::ready)); });
    close([](Session& s) {
        s.run().start();
        ASSERT_TRUE(wait_step(s, 2));
    });
    close([](Session& s) {
        s.run().start();
        ASSERT_TRUE(wait_step(s, 2));
        s.pace().yield_for_ms(3'600'000);
    });
}

// As a kill leaves it: logged steps that no checkpoint holds.
TEST(SessionTraining, StepsThatAKillTookAreNamedAndLeaveTheCurves) {
    const Scratch scratch;
    {
        TestSession session(new_run(scratch / "run"));
        session.run().step(20);
        ASSERT_TRUE(wait_step(session, 20) && wait_state(session, RunState::paused));
        session.run().save();
        session.run().step(15);
        ASSERT_TRUE(wait_step(session, 35) && wait_state(session, RunState::paused));
    }
    ASSERT_TRUE(std::filesystem::remove(scratch / "run/checkpoints/step-00000035.safetensors"));
    TestSession session(open_path(scratch / "run"));
    ASSERT_TRUE(wait_state(session, RunState::ready));
    EXPECT_EQ(session.status().step, 20);
    EXPECT_NE(session.status().message.find("steps 21 to 35 were not saved and are lost"),
              std::string::npos)
        << session.status().message;
    session.run().step(2);
    ASSERT_TRUE(wait_step(session, 22) && wait_state(session, RunState::paused));
    const auto curves = session.curves();
    EXPECT_EQ(curves->step.back(), 22) << "the dead curve is gone";
    EXPECT_EQ(curves->step.size(), 22u);
    const bool is_named =
        std::any_of(curves->events.begin(), curves->events.end(), [](const Event& event) {
            return event.kind == "lost" && event.step == 20 &&
                   event.text == "steps 21 to 35 were not saved and are lost";
        });
    EXPECT_TRUE(is_named);
}

// What another session does to a run that lies open here: either this one has noticed it, or a
// start here says so and writes nothing.
void expect_left_alone(const fs::path& run, const std::string& words,
                       const std::function<void(Session&)>& change) {
    TestSession late(open_path(run));
    ASSERT_TRUE(wait_state(late, RunState::ready));
    {
        TestSession other(open_path(run));
        ASSERT_TRUE(wait_state(other, RunState::ready));
        change(other);
        if (testing::Test::HasFatalFailure()) return;
    }
    const std::string metrics = read_file(run / "metrics.jsonl");
    late.run().start();
    const auto has_noticed = [&] {
        const std::string message = late.status().message;
        return message.find("trained this run") != std::string::npos;
    };
    ASSERT_TRUE(wait_for([&] { return late.status().state == RunState::error || has_noticed(); }))
        << state_name(late.status().state) << ": " << late.status().message;
    if (late.status().state != RunState::error) {  // it continues from what is there
        EXPECT_TRUE(read_file(run / "metrics.jsonl").starts_with(metrics)) << "no row is lost";
        return;
    }
    EXPECT_NE(late.status().error.find(words), std::string::npos) << late.status().error;
    EXPECT_EQ(read_file(run / "metrics.jsonl"), metrics);
}

TEST(SessionTraining, ARunThatWasTrainedFurtherMeanwhileIsLeftAlone) {
    const Scratch scratch;
    {
        TestSession first(new_run(scratch / "run", true));
        ASSERT_TRUE(wait_step(first, 5));
        first.run().stop();
        ASSERT_TRUE(wait_state(first, RunState::stopped));
    }
    expect_left_alone(scratch / "run", "trained further", [](Session& other) {
        const int64_t before = other.status().step;
        other.run().step(10);
        ASSERT_TRUE(wait_step(other, before + 10));
        other.run().stop();
        ASSERT_TRUE(wait_state(other, RunState::stopped));
    });
}

TEST(SessionTraining, ARunThatWasRewoundMeanwhileIsLeftAlone) {
    const Scratch scratch;
    {
        TestSession first(new_run(scratch / "run"));
        first.run().run_until(60);
        ASSERT_TRUE(wait_step(first, 60));
        ASSERT_TRUE(wait_state(first, RunState::stopped));
    }
    expect_left_alone(scratch / "run", "rewound meanwhile, to step 5", [](Session& other) {
        other.run().rewind(50);
        ASSERT_TRUE(wait_for([&] { return other.status().step == 50; }));
        other.run().step(1);
        ASSERT_TRUE(wait_step(other, 51));
    });
}

// publisher_test.cpp has the exact rule; this is the session that follows it.
TEST(SessionTraining, WeightsAreNotPublishedAtEachStep) {
    const Scratch scratch;
    OpenRequest request = new_run(scratch / "run", true);
    request.config->train.publish_every = 1;
    TestSession session(request);
    const ProbeRequest ask = probe("bias");
    std::set<int64_t> steps;
    const auto start = std::chrono::steady_clock::now();
    EXPECT_TRUE(wait_for([&] {
        if (const auto fields = session.probes().ask(ask)) steps.insert(fields->fields[0].step);
        return steps.size() >= 4;
    })) << "it moves";
    // At most four times a second, and more rarely the slower the machine is.
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start;
    EXPECT_LE(static_cast<double>(steps.size()), passed.count() * 4 + 2);
}

}  // namespace
}  // namespace aft
