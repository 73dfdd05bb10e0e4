// Formation: the strip over the stored steps, and the step by which half of a change was done, as
// the command writes it.
#include <sstream>

#include "core/text.h"
#include "model/jobs/probe.h"
#include "tests/app/stage_fixture.h"

namespace aft::app {
namespace {

class FormationWindow : public BareTest {
  protected:
    void open_run() {
        make();
        open_tiny_run(12);
        run("view.workspace_biases\nframes 4\nclick formation/main/tab\nframes 4\n");
    }
    [[nodiscard]] std::string strip() { return value_of("formation/main/formation"); }
    [[nodiscard]] std::string all() { return dump(ui()); }
};

TEST_F(FormationWindow, SaysByWhichStepHalfOfTheChangeWasDone) {
    open_run();
    EXPECT_NE(all().find("One stored step so far"), std::string::npos);
    run("run.start\nwait Stopped\n");
    const size_t count = ui().history.size();
    ASSERT_GT(count, 2u);
    const std::string whole = fmt::format("2 rows, {} steps", count);
    ASSERT_TRUE(until([&] { return strip() == whole; })) << strip();
    ProbeJob job;
    job.probe = "formation";
    job.model = ui().status.path;
    job.moments = true;
    job.out = (scratch_ / "formation.npy").string();
    const ProbeResult result = probe_job(job, {});
    EXPECT_EQ(result.shape, (std::vector<int64_t>{int64_t(count), 2, 4}));
    std::istringstream words(result.notes.at("half by"));
    int64_t half = -1;
    words >> half;  // layer 0, norm
    ASSERT_GT(half, 0);
    EXPECT_NE(all().find("half of its change by step " + group_thousands(half) + ","),
              std::string::npos)
        << all();
    const std::string caption = value_of("formation/main/caption");
    EXPECT_NE(caption.find("  \u00B7  " + ui().status.name + ", step "), std::string::npos)
        << caption;
    EXPECT_TRUE(value_of("formation/main/hover_line").starts_with("layer 0"))
        << value_of("formation/main/hover_line");
    run("click formation/main/number=entropy\nframes 3\n");
    EXPECT_NE(all().find("Entropy, of a flat row"), std::string::npos) << all();
}

// Until the steps of a rewound run are read again, nothing is drawn of the old ones.
TEST_F(FormationWindow, StartsAfreshAfterARewind) {
    open_run();
    session().run().step(6);
    ASSERT_TRUE(until([&] { return ui().status.step == 6; }));
    session().run().save();
    run("run.start\nwait Stopped\n");
    const std::string count = fmt::format("2 rows, {} steps", ui().history.size());
    ASSERT_TRUE(until([&] { return strip() == count; })) << strip();
    session().run().rewind(6);
    ASSERT_TRUE(until([&] { return ui().status.rewinds > 0; }));
    run("frames 10\n");
    EXPECT_EQ(all().find("Try again"), std::string::npos) << all();
}

}  // namespace
}  // namespace aft::app
