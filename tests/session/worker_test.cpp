// Probes, pictures and completions through the session, beside a training run and without one.
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <set>

#include "tests/session/wake_gate.h"

namespace aft {
namespace {

std::vector<uint8_t> picture(uint64_t seed) {
    std::mt19937_64 random(seed);
    std::vector<uint8_t> tokens(64);
    for (uint8_t& token : tokens) token = static_cast<uint8_t>(random() % 4);
    return tokens;
}

CompletionRequest lower_half(int64_t samples = 3) {
    CompletionRequest request;
    request.tokens = picture(1);
    request.unknown.assign(64, 0);
    std::fill(request.unknown.begin() + 32, request.unknown.end(), uint8_t{1});
    request.sample.samples = samples;
    return request;
}

std::shared_ptr<const Completion> wait_completion(const Session& session, uint64_t after = 0) {
    std::shared_ptr<const Completion> done;
    static_cast<void>(wait_for([&] {
        done = session.completions().latest();
        return done && done->done && done->id > after;
    }));
    return done;
}

TEST(SessionWorker, ProbesAnswerWhileTrainingContinues) {
    const Scratch scratch;
    TestSession session(new_run(scratch / "run", true));
    for (const std::string name : {"bias", "attention", "keys", "gates", "predictions"}) {
        ProbeRequest request = probe(name, name == "predictions" ? 0 : 1);
        if (name != "bias") request.tokens = picture(2);
        const auto fields = answer(session, request);
        ASSERT_NE(fields, nullptr) << name;
        EXPECT_FALSE(fields->fields.empty());
    }
    // A newer snapshot brings a newer answer; meanwhile the old one is shown.
    const auto first = answer(session, probe("bias"));
    ASSERT_NE(first, nullptr);
    const int64_t step = first->fields[0].step;
    EXPECT_TRUE(wait_for([&] {
        const auto now = session.probes().ask(probe("bias"));
        EXPECT_NE(now, nullptr);
        return now && now->fields[0].step > step;
    }));
    session.run().pause();
    ASSERT_TRUE(wait_state(session, RunState::paused));
    // After a pause the answer is of the very step that is shown.
    EXPECT_TRUE(wait_for([&] {
        const auto now = session.probes().ask(probe("bias"), false);
        return now && now->fields[0].step == session.status().step;
    }));
}

TEST(SessionWorker, AnAnswerIsCachedAndAMistakeIsWords) {
    const Scratch scratch;
    TestSession session(new_run(scratch / "run"));
    const auto first = answer(session, probe("bias"));
    ASSERT_NE(first, nullptr);
    EXPECT_EQ(session.probes().ask(probe("bias")), first);
    std::string error;
    EXPECT_EQ(answer(session, probe("bias", 9), &error), nullptr);
    EXPECT_NE(error.find("layer 9"), std::string::npos);
    EXPECT_EQ(answer(session, probe("kernel"), &error), nullptr);
    EXPECT_NE(error.find("aft-full"), std::string::npos);
    EXPECT_EQ(answer(session, probe("nonsense"), &error), nullptr);
    EXPECT_NE(error.find("allowed"), std::string::npos);
    EXPECT_TRUE(wait_state(session, RunState::ready));
}

TEST(SessionWorker, ManyPanelsAskAtOnce) {
    const Scratch scratch;
    TestSession session(new_run(scratch / "run", true));
    std::set<size_t> open;
    std::vector<ProbeRequest> requests;
    for (int64_t layer = 0; layer < 2; ++layer)
        for (const std::string quantity : {"w", "exp-1", "row-share"}) {
            requests.push_back(probe("bias", layer));
            requests.back().options = {{"quantity", quantity}, {"blocks", "4"}};
        }
    for (int64_t t = 0; t < 8; ++t) {
        requests.push_back(probe("attention", 1));
        requests.back().position = t;
        requests.back().tokens = picture(3);
    }
    for (size_t i = 0; i < requests.size(); ++i) open.insert(i);
    EXPECT_TRUE(wait_for([&] {
        for (size_t i = 0; i < requests.size(); ++i)
            if (session.probes().ask(requests[i])) open.erase(i);
        return open.empty();
    })) << open.size()
        << " never answered";
}

TEST(SessionWorker, CompletesWhileTrainingContinues) {
    const Scratch scratch;
    TestSession session(new_run(scratch / "run", true));
    ASSERT_TRUE(wait_step(session, 2));
    session.completions().start(lower_half());
    const auto done = wait_completion(session);
    ASSERT_NE(done, nullptr);
    EXPECT_EQ(done->error, "");
    EXPECT_EQ(done->position, 64);
    ASSERT_EQ(done->samples.size(), 3u);
    for (const auto& sample : done->samples)
        for (size_t i = 0; i < 32; ++i) EXPECT_EQ(sample[i], picture(1)[i]);
    for (const double nats : done->log_likelihood) EXPECT_LT(nats, 0);
    EXPECT_GE(done->step, 0);

    CompletionRequest bad = lower_half();
    bad.sample.top_p = 7;
    session.completions().start(bad);
    const auto failed = wait_completion(session, done->id);
    ASSERT_NE(failed, nullptr);
    EXPECT_NE(failed->error.find("top-p"), std::string::npos);
}

TEST(SessionWorker, ACompletionStopsIsReplacedAndContinues) {
    const Scratch scratch;
    TestSession session(new_run(scratch / "run"));
    ASSERT_TRUE(wait_state(session, RunState::ready));
    session.completions().start(lower_half(200));
    session.completions().stop();
    session.completions().start(lower_half(300));
    session.completions().start(lower_half(2));  // newest wins
    EXPECT_TRUE(wait_for([&] {
        const auto now = session.completions().latest();
        return now && now->done && !now->stopped && now->samples.size() == 2;
    }));
    const auto first = session.completions().latest();
    CompletionRequest again = lower_half(2);
    again.from_position = 40;
    again.from_sample = 1;
    again.forced = (first->samples[1][40] + 1) % 4;
    session.completions().start(again);
    const auto branch = wait_completion(session, first->id);
    ASSERT_NE(branch, nullptr);
    EXPECT_EQ(branch->error, "");
    EXPECT_EQ(branch->samples[0], first->samples[0]);
    EXPECT_EQ(branch->samples[1][40], again.forced);
    for (size_t i = 0; i < 40; ++i) EXPECT_EQ(branch->samples[1][i], first->samples[1][i]);
}

// The distribution that a panel asks for is the decoder's, level by level: each level is forced in
// turn, and the decoder says how surprising it was.
TEST(SessionWorker, TheDistributionAtAPositionIsTheDecoders) {
    const Scratch scratch;
    TestSession session(new_run(scratch / "run"));
    session.run().run_until(40);
    ASSERT_TRUE(wait_state(session, RunState::stopped));
    session.completions().start(lower_half(2));
    auto last = wait_completion(session);
    ASSERT_NE(last, nullptr);
    const size_t position = 45;
    ProbeRequest request = probe("predictions");
    request.tokens = last->samples[1];
    request.options["position"] = std::to_string(position);
    const auto fields = answer(session, request);
    ASSERT_NE(fields, nullptr);
    const std::vector<float>& nats = fields->fields[0].values;
    ASSERT_EQ(nats.size(), 4u);
    double sum = 0;
    for (int64_t level = 0; level < 4; ++level) {
        sum += std::exp(nats[static_cast<size_t>(level)]);
        CompletionRequest again = lower_half(2);
        again.tokens = last->samples.front();
        again.from_position = static_cast<int64_t>(position);
        again.from_sample = 1;
        again.forced = level;
        session.completions().start(again);
        last = wait_completion(session, last->id);
        ASSERT_NE(last, nullptr);
        ASSERT_EQ(last->error, "");
        EXPECT_EQ(last->samples[1][position], level);
        EXPECT_NEAR(last->surprise[1][position] * std::log(2.0), -nats[static_cast<size_t>(level)],
                    1e-4)
            << level;
    }
    EXPECT_NEAR(sum, 1, 1e-5);
}

TEST(SessionWorker, ProbesAreServedBetweenTokens) {
    const Scratch scratch;
    WakeGate gate;
    Session session(new_run(scratch / "run"), [&] { gate.wake(); });
    ASSERT_TRUE(wait_state(session, RunState::ready));
    CompletionRequest all = lower_half(1000);
    std::fill(all.unknown.begin(), all.unknown.end(), uint8_t{1});
    const WakeGate::Closed closed(gate);
    ASSERT_TRUE(hold_in_completion(session, gate, [&] { (void)session.completions().start(all); }));
    const auto running = session.completions().latest();
    EXPECT_TRUE(!running || !running->done) << "it ended before the probe was served";
    session.completions().stop();
}

TEST(SessionWorker, StoredMomentsCanBeAsked) {
    const Scratch scratch;
    TestSession session(new_run(scratch / "run"));
    session.run().run_until(60);
    ASSERT_TRUE(wait_step(session, 60));
    ASSERT_TRUE(wait_state(session, RunState::stopped));
    const std::vector<int64_t> moments = session.history_steps();
    ASSERT_GE(moments.size(), 3u);
    EXPECT_EQ(moments.front(), 0);
    EXPECT_EQ(moments.back(), 60);
    std::vector<float> before;
    for (const int64_t step : moments) {
        ProbeRequest request = probe("bias");
        request.step = step;
        const auto fields = answer(session, request);
        ASSERT_NE(fields, nullptr) << step;
        EXPECT_EQ(fields->fields[0].step, step);
        EXPECT_NE(fields->fields[0].values, before);
        before = fields->fields[0].values;
    }
    ProbeRequest request = probe("keys");
    request.tokens = picture(1);
    request.step = 55;  // keys need whole weights: of two as near the earlier one
    const auto fields = answer(session, request);
    ASSERT_NE(fields, nullptr);
    EXPECT_EQ(fields->fields[0].step, 50);
    request.step = 56;  // nearer to 60
    EXPECT_EQ(answer(session, request)->fields[0].step, 60);
    request.step = 10;
    EXPECT_EQ(answer(session, request)->fields[0].step, 50);
    // A completion of an older step, too.
    CompletionRequest old = lower_half(1);
    old.step = 50;
    session.completions().start(old);
    const auto done = wait_completion(session);
    ASSERT_NE(done, nullptr);
    EXPECT_EQ(done->step, 50);
}

// What was taken for a step is not for ever: a checkpoint that is saved later may be nearer.
TEST(SessionWorker, AMomentIsTheNearestOneThatIsStoredNow) {
    const Scratch scratch;
    OpenRequest fresh = new_run(scratch / "run");
    fresh.config->train.checkpoint_every = 40;
    TestSession session(fresh);
    session.run().step(58);
    ASSERT_TRUE(wait_step(session, 58) && wait_state(session, RunState::paused));
    session.run().step(1);
    ASSERT_TRUE(wait_step(session, 59) && wait_state(session, RunState::paused));
    ProbeRequest request = probe("keys");
    request.tokens = picture(1);
    request.step = 58;
    ASSERT_NE(answer(session, request), nullptr);
    EXPECT_EQ(answer(session, request)->fields[0].step, 40);
    session.run().save();
    ASSERT_TRUE(wait_for([&] { return session.status().saved_step == 59; }));
    session.run().step(1);
    ASSERT_TRUE(wait_step(session, 60) && wait_state(session, RunState::paused));
    EXPECT_EQ(answer(session, request, nullptr, /*stale_ok=*/false)->fields[0].step, 59);
}

TEST(SessionWorker, AFolderThatIsGoneIsNamedAndNothingInItCountsAsSaved) {
    const Scratch scratch;
    {
        TestSession first(new_run(scratch / "run"));
        first.run().run_until(20);
        ASSERT_TRUE(wait_state(first, RunState::stopped));
    }
    TestSession session(open_path(scratch / "run"));
    ASSERT_TRUE(wait_state(session, RunState::ready));
    EXPECT_EQ(session.status().saved_step, 20);
    fs::remove_all(scratch / "run");
    ProbeRequest request = probe("bias");
    request.step = 7;
    std::string error;
    EXPECT_EQ(answer(session, request, &error), nullptr);
    EXPECT_NE(error.find("run: the folder of this run is gone"), std::string::npos) << error;
    session.run().step(1);
    ASSERT_TRUE(wait_state(session, RunState::error));
    EXPECT_NE(session.status().error.find("is gone"), std::string::npos);
    EXPECT_EQ(session.status().saved_step, -1);
    EXPECT_TRUE(session.saved_steps().empty());
}

TEST(SessionWorker, BadPathsEndInTheErrorStateWithThePath) {
    const Scratch scratch;
    const auto error_of = [&](const std::string& path) {
        TestSession session(open_path(path));
        EXPECT_TRUE(wait_state(session, RunState::error));
        EXPECT_EQ(session.probes().ask(probe("bias")), nullptr);
        session.run().start();
        session.completions().start(lower_half());
        return session.status().error;
    };
    const std::string missing = scratch / "missing.safetensors";
    EXPECT_NE(error_of(missing).find(missing), std::string::npos);
    const std::string garbage = scratch / "garbage.safetensors";
    std::ofstream(garbage) << "this is not a checkpoint, whatever its name says";
    EXPECT_NE(error_of(garbage).find(garbage), std::string::npos);
    const std::string folder = scratch / "folder";
    std::filesystem::create_directories(folder);
    EXPECT_NE(error_of(folder).find(folder), std::string::npos);
    std::ofstream(folder + "/config.json") << "{ not json";
    EXPECT_NE(error_of(folder).find(folder), std::string::npos);
    std::ofstream(folder + "/config.json") << "{\"model\": {\"dimm\": 3}}";
    EXPECT_NE(error_of(folder).find("dimm"), std::string::npos);
}

TEST(SessionWorker, ACheckpointOpensProbesAndTrainsOn) {
    const Scratch scratch;
    {
        TestSession session(new_run(scratch / "run"));
        session.run().run_until(3);
        ASSERT_TRUE(wait_state(session, RunState::stopped));
    }
    const std::string file = scratch / "run/checkpoints/step-00000003.safetensors";
    OpenRequest request = open_path(file);
    request.out = scratch / "branch";
    TestSession session(request);
    ASSERT_TRUE(wait_state(session, RunState::ready));
    EXPECT_EQ(session.status().step, 3);
    EXPECT_EQ(session.status().path, file);
    ASSERT_NE(answer(session, probe("bias")), nullptr);
    session.run().step(2);
    ASSERT_TRUE(wait_step(session, 5));
    ASSERT_TRUE(wait_state(session, RunState::paused));
    EXPECT_EQ(session.status().path, (scratch / "branch").string());
}

TEST(SessionWorker, RandomUseOfEverything) {
    const Scratch scratch;
    TestSession session(new_run(scratch / "run"));
    std::mt19937 random(3);
    for (int i = 0; i < 250; ++i) {
        ProbeRequest request = probe(random() % 2 ? "bias" : "attention", random() % 2);
        if (request.probe == "attention") request.tokens = picture(random() % 3);
        if (random() % 3 == 0) request.step = random() % 20;
        static_cast<void>(session.probes().ask(request, random() % 2));
        switch (random() % 12) {
            case 0:
                session.run().start();
                break;
            case 1:
                session.run().pause();
                break;
            case 2:
                session.completions().start(lower_half(1 + random() % 9));
                break;
            case 3:
                session.completions().stop();
                break;
            case 4:
                static_cast<void>(session.items().example("train", random() % 5));
                break;
            case 5:
                session.run().save();
                break;
            case 6:
                session.run().stop();
                break;
            case 7:
                session.probes().cancel(request);
                break;
            default:
                break;
        }
        static_cast<void>(session.curves());
        static_cast<void>(session.completions().latest());
        ASSERT_NE(session.status().state, RunState::error) << session.status().error;
        if (random() % 4 == 0) wait_a_little(3);
    }
}

}  // namespace
}  // namespace aft
