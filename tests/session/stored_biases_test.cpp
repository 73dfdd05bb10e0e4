// The reader of several stored models: what it says of a step is what a session says of it.
#include "model/jobs/stored_biases.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "model/model_files.h"
#include "tests/model/checkpoints/maps_file.h"
#include "tests/session/session_fixture.h"

namespace aft {
namespace {

ProbeRequest stored_bias(int64_t step, int64_t layer = 0) {
    ProbeRequest request;
    request.probe = "bias";
    request.step = step;
    request.layer = layer;
    request.options = {{"quantity", "w"}, {"gauge", "fixed"}};
    return request;
}

// NaN where nothing is visible, in both.
bool same_values(const FieldSet& a, const FieldSet& b) {
    const std::vector<float>&x = a.fields.at(0).values, &y = b.fields.at(0).values;
    return x.size() == y.size() && std::equal(x.begin(), x.end(), y.begin(), [](float p, float q) {
               return p == q || (std::isnan(p) && std::isnan(q));
           });
}

TEST(StoredBiases, AreWhatASessionAnswers) {
    const Scratch scratch;
    const std::string run = scratch / "run";
    TestSession session(run_that_saves(run, 20));
    ASSERT_TRUE(wait_state(session, RunState::ready));
    ASSERT_TRUE(train_to(session, 40));
    session.run().stop();
    ASSERT_TRUE(wait_state(session, RunState::stopped));
    const StoredModel model = stored_model(run);
    EXPECT_EQ(model.steps, session.history_steps());
    EXPECT_EQ(model.saved, session.saved_steps());
    EXPECT_EQ(model.status.tokens, session.status().tokens);
    EXPECT_EQ(model.status.layers.size(), session.status().layers.size());
    EXPECT_EQ(model.status.step, 40);
    EXPECT_EQ(model.curves.step.size(), session.curves()->step.size());
    StoredBiases stored;
    bool has_frame = false;
    for (const int64_t step : model.steps) {
        has_frame |= !std::binary_search(model.saved.begin(), model.saved.end(), step);
        for (const int64_t layer : {0, 1}) {
            const FieldSetPtr live =
                answer(session, stored_bias(step, layer), nullptr, /*stale_ok=*/false);
            ASSERT_NE(live, nullptr);
            const FieldSet read = stored.ask(run, stored_bias(step, layer), {});
            EXPECT_EQ(read.fields.at(0).step, step);
            EXPECT_TRUE(same_values(read, *live)) << "step " << step << ", layer " << layer;
        }
    }
    EXPECT_TRUE(has_frame) << "steps of which the biases alone are stored";
    EXPECT_LE(stored.kept(), StoredBiases::kMostKept);
    EXPECT_FALSE(same_values(stored.ask(run, stored_bias(model.steps.front()), {}),
                             stored.ask(run, stored_bias(40), {})))
        << "training changes them";
}

// How many heads a map has is said by the files alone, not by config.json.
TEST(StoredBiases, OfARunOfMapsAlone) {
    const Scratch scratch;
    put_maps_run(scratch / "run");
    put_maps_step(scratch / "run", 0, 0.25F);
    put_maps_step(scratch / "run", 50, 5);
    const std::string run = (scratch / "run").string();
    const StoredModel model = stored_model(run);
    EXPECT_EQ(mixer_traits(model.status.config.model, 1).heads, 2);
    EXPECT_EQ(model.steps, (std::vector<int64_t>{0, 50}));
    StoredBiases stored;
    EXPECT_EQ(stored.ask(run, stored_bias(0, 1), {}).fields.at(0).shape,
              (std::vector<int64_t>{2, 4, 4}));
    ProbeRequest first = stored_bias(0), last = stored_bias(50);
    EXPECT_TRUE(same_values(stored.ask(run, first, {}), stored.ask(run, last, {})))
        << "a constant apart, which the gauge removes";
    first.options["gauge"] = last.options["gauge"] = "raw";
    EXPECT_FALSE(same_values(stored.ask(run, first, {}), stored.ask(run, last, {})));
}

TEST(StoredBiases, SayWhatIsStoredInstead) {
    const Scratch scratch;
    const std::string run = scratch / "run";
    {
        TestSession session(run_that_saves(run, 10));
        ASSERT_TRUE(wait_state(session, RunState::ready));
        ASSERT_TRUE(train_to(session, 10));
    }
    StoredBiases stored;
    const std::string gone = error_of([&] { (void)stored.ask(run, stored_bias(7777), {}); });
    EXPECT_TRUE(has(gone, "step 7777 is not stored")) << gone;
    EXPECT_TRUE(has(gone, "to 10")) << gone;
    const std::string layer = error_of([&] { (void)stored.ask(run, stored_bias(-1, 99), {}); });
    EXPECT_TRUE(has(layer, "layer")) << layer;
    ProbeRequest attention;
    attention.probe = "attention";
    EXPECT_TRUE(has(error_of([&] { (void)stored.ask(run, attention, {}); }), "position biases"));
    const std::string missing = (scratch / "nothing").string();
    EXPECT_TRUE(has(error_of([&] { (void)stored_model(missing); }), missing));
    // A file is one step; a damaged one is an error that names it.
    const std::string file = checkpoint_file(run, 10);
    EXPECT_EQ(stored_model(file).steps, std::vector<int64_t>{10});
    const std::string broken = (scratch / "broken.safetensors").string();
    put(broken, "not a checkpoint");
    EXPECT_TRUE(has(error_of([&] { (void)stored_model(broken); }), broken));
    EXPECT_TRUE(has(error_of([&] { (void)stored.ask(broken, stored_bias(-1), {}); }), broken));
}

TEST(StoredBiases, ARunWithoutStoredStepsSaysSo) {
    const Scratch scratch;
    const std::string run = (scratch / "run").string();
    std::filesystem::create_directories(run);
    {
        TestSession session(new_run((scratch / "other").string()));
        ASSERT_TRUE(wait_state(session, RunState::ready));
        ASSERT_TRUE(train_to(session, 1));
    }
    std::filesystem::copy_file(scratch / "other/config.json", run + "/config.json");
    EXPECT_TRUE(has(error_of([&] { (void)stored_model(run); }), "no step is stored"));
}

}  // namespace
}  // namespace aft
