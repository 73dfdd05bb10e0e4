// Jobs and sessions that list a folder of very many files end soon after they are asked to, without
// finishing the list.
#include <gtest/gtest.h>

#include <thread>

#include "core/progress.h"
#include "model/jobs.h"
#include "model/jobs/browse.h"
#include "tests/session/many_files.h"
#include "tests/session/session_fixture.h"
#include "tests/source_file.h"

namespace aft {
namespace {

constexpr int kTries = 8;  // other programs may take the processor just then

Config with_data(const ManyFiles& files) {
    Config config = small_run();
    config.data.source = files.spec();
    return config;
}

// Stop is asked after an eighth of the time that the whole takes.
bool ends_early(const Config& config, std::chrono::duration<double> whole) {
    bool is_interrupted = false;
    std::stop_source stop;
    std::jthread later([&] {
        std::this_thread::sleep_for(whole / 8);
        stop.request_stop();
    });
    const auto taken = time_of([&] {
        try {
            (void)open_data(config, stop.get_token());
        } catch (const Interrupted&) {
            is_interrupted = true;
        }
    });
    return is_interrupted && taken < whole / 2;
}

TEST(StopListing, AListOfManyFilesEndsInTheMiddle) {
    const ManyFiles files;
    const Config config = with_data(files);
    const auto whole = time_of([&] { (void)open_data(config); });
    int tries = 0;
    while (tries < kTries && !ends_early(config, whole)) ++tries;
    EXPECT_LT(tries, kTries) << "the whole list takes " << whole.count() << " s";
}

TEST(StopListing, EachJobThatListsPicturesLooksAtItsToken) {
    const ManyFiles files(50);
    const Scratch scratch;
    const Config config = with_data(files);
    const std::string model = source_file("assets/demo/mirror.safetensors").string();
    std::stop_source stop;
    stop.request_stop();
    const JobControl control{.stop = stop.get_token()};
    TrainRequest train;
    train.config = config;
    train.out = scratch / "run";
    EvalRequest eval;
    ProbeJob probe;
    CompleteRequest complete;
    eval.model = probe.model = complete.model = model;
    eval.data = probe.data = complete.data = files.spec();
    probe.probe = "predictions";
    probe.out = scratch / "out.npy";
    complete.out = scratch / "samples";
    EXPECT_THROW((void)fit_to_data(config, {}, control.stop), Interrupted);
    EXPECT_THROW((void)train_job(train, control), Interrupted);
    EXPECT_FALSE(fs::exists(scratch / "run"));
    EXPECT_THROW((void)eval_job(eval, control), Interrupted);
    EXPECT_THROW((void)pack_pictures({.data = files.spec(), .out = scratch / "out"}, control),
                 Interrupted);
    EXPECT_THROW((void)probe_job(probe, control), Interrupted);
    EXPECT_THROW((void)complete_job(complete, control), Interrupted);
    EXPECT_THROW((void)complete_pictures({.model = model, .data = files.spec()}, control),
                 Interrupted);
}

TEST(StopListing, RunsAreLookedForUntilItIsAsked) {
    struct FolderOfProcess {
        fs::path before = fs::current_path();
        ~FolderOfProcess() { fs::current_path(before); }
    };
    const Scratch scratch;
    const FolderOfProcess before;
    fs::current_path(scratch.path());
    fs::create_directories("runs/one");
    put("runs/one/config.json", "{}");
    std::stop_source stop;
    EXPECT_EQ(runs_here(8, stop.get_token()).size(), 1u);
    stop.request_stop();
    EXPECT_TRUE(runs_here(8, stop.get_token()).empty());
}

TEST(StopListing, ASessionThatIsClosedLeavesTheListOfItsData) {
    const ManyFiles files;
    const Scratch scratch;
    OpenRequest request = new_run(scratch / "run");
    request.config->data.source = files.spec();
    const auto whole = time_of([&] { (void)open_data(*request.config); });
    std::chrono::duration<double> least = whole;
    for (int tries = 0; tries < kTries && least >= whole / 2; ++tries) {
        auto session = std::make_unique<TestSession>(request);
        std::this_thread::sleep_for(whole / 8);
        ASSERT_EQ(session->status().state, RunState::opening);
        least = std::min(least, time_of([&] { session.reset(); }));
    }
    EXPECT_LT(least, whole / 2);
    EXPECT_FALSE(fs::exists(scratch / "run"));
}

}  // namespace
}  // namespace aft
