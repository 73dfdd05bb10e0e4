// "Export metrics...": the files of the command `metrics`, where the user wants them; what fails is
// said.
#include <fstream>

#include "core/files.h"
#include "model/jobs/log_export.h"
#include "tests/app/stage_fixture.h"

namespace aft::app {
namespace {

class MetricsCards : public BareTest {
  protected:
    // Through the card; the toast that says what became of it.
    std::string save(const std::string& format, const fs::path& out) {
        const size_t before = ui().toasts.history().size();
        run("file.export_metrics\nframes 3\nclick metrics_card/main/format=" + format +
            "\nframes 2\nset metrics_card/main/file " + out.string() +
            "\nframes 2\nclick metrics_card/main/save\nframes 2\n");
        EXPECT_FALSE(is_there("metrics_card/main/file")) << "the card closes";
        EXPECT_TRUE(until([&] { return ui().toasts.history().size() > before; }));
        const Toast& toast = ui().toasts.history().back();
        return toast.title + ": " + toast.detail;
    }
};

TEST_F(MetricsCards, WritesWhatTheCommandWrites) {
    open_trained_run();
    ui().workspace = Workspace::train;
    const fs::path csv = scratch_ / "out.csv", events = scratch_ / "events";
    EXPECT_TRUE(save("csv", csv).starts_with("Metrics exported: ")) << csv;
    const fs::path wanted = scratch_ / "wanted.csv";
    (void)export_log({.run = folder_.string(), .out = wanted.string()}, {});
    EXPECT_EQ(read_file(csv), read_file(wanted));
    EXPECT_TRUE(save("tensorboard", events).starts_with("Metrics exported: "));
    EXPECT_FALSE(fs::is_empty(events));
    const std::string again = save("tensorboard", events);
    EXPECT_TRUE(again.starts_with("Metrics not exported: ")) << again;
    EXPECT_NE(again.find("events"), std::string::npos) << again;
    const std::string nowhere = save("csv", "/proc/no/such/file.csv");
    EXPECT_TRUE(nowhere.starts_with("Metrics not exported: ")) << nowhere;
    EXPECT_NE(nowhere.find("/proc/no/such/file.csv"), std::string::npos) << nowhere;
}

TEST_F(MetricsCards, CtrlEInTrainLeadsToIt) {
    open_trained_run();
    run("view.workspace_train\nframes 3\nkey Ctrl+E\nframes 3\nclick view_card/main/"
        "file.export_metrics\nframes 3\n");
    EXPECT_FALSE(is_there("view_card/main/file"));
    EXPECT_TRUE(value_of("metrics_card/main/file").ends_with("run.csv"))
        << value_of("metrics_card/main/file");
    run("key Esc\nframes 3\nview.workspace_biases\nframes 3\nkey Ctrl+E\nframes 3\n");
    EXPECT_FALSE(is_there("view_card/main/file.export_metrics"));
}

TEST_F(MetricsCards, ACheckpointHasNone) {
    open_mirror();
    EXPECT_EQ(ui().actions.why_not(ui(), "file.export_metrics"),
              "A checkpoint has no log: open its run folder.");
}

}  // namespace
}  // namespace aft::app
