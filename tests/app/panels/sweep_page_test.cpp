// The folder of a sweep in the window: its table, sorted by any column, its plot, and its runs.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "app/state/sweep_table.h"
#include "core/caught.h"
#include "core/files.h"
#include "core/json.h"
#include "tests/app/stage_fixture.h"

namespace aft::app {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

json sweep_point(const std::string& name, const std::string& window, double mean) {
    return {{"name", name},
            {"settings", {{"model.window", window}, {"train.steps", "9"}}},
            {"runs", 2},
            {"mean", mean},
            {"deviation", 0.25},
            {"standard_error", 0.1},
            {"least", mean - 0.25},
            {"most", mean + 0.25},
            {"paper", "1.75"}};
}

json sweep_seed(const std::string& of, int number, const std::string& folder, double value) {
    return {{"point", of},     {"seed", number}, {"folder", folder},
            {"state", "done"}, {"step", 9},      {"bits_per_dim", value}};
}

class SweepPages : public BareTest {
  protected:
    // A sweep of two points, one of whose runs is a real one.
    void write_sweep() {
        open_trained_run();
        ui().commands.send(CloseModel{});
        run("frames 3\n");
        fs::create_directories(sweep_);
        fs::rename(folder_, fs::path(sweep_) / "w=2,seed=1");
        const json table{{"name", "windows"},
                         {"sentence", "How far must it look?"},
                         {"paper", "Table 2"},
                         {"metric", "bits_per_dim"},
                         {"split", "test"},
                         {"points", {sweep_point("w=2", "2", 2.5), sweep_point("w=16", "16", 1.5)}},
                         {"runs",
                          {sweep_seed("w=2", 1, "elsewhere/w=2,seed=1", 2.25),
                           sweep_seed("w=2", 2, "gone", 2.75), sweep_seed("w=16", 1, "gone", 1.25),
                           sweep_seed("w=16", 2, "gone", 1.75)}}};
        put(fs::path(sweep_) / "table.json", json_text(table));
    }
    std::string first_row() {
        for (const WidgetRecord& widget : ui().recorder.last())
            if (widget.kind == "row" && widget.path.id.starts_with("home/points/points:w="))
                return widget.path.id;
        return "";
    }
    std::string sweep_ = scratch_ / "sweep";
};

TEST_F(SweepPages, AFolderShowsItsTableAndPlotAndOpensItsRuns) {
    write_sweep();
    stage_->frame().open(sweep_);
    ASSERT_TRUE(until([&] { return is_there("home/points/points:w=2"); })) << dump(ui());
    EXPECT_EQ(ui().workspace, Workspace::home);
    EXPECT_EQ(dump(ui()).find("not a run folder"), std::string::npos);
    EXPECT_EQ(value_of("home/points/points:w=2"),
              "w=2 | 2 | 2 | 2.5000 | 0.2500 | 2.2500 | 2.7500 | 1.75");
    EXPECT_EQ(first_row(), "home/points/points:w=2");
    EXPECT_NE(value_of("home/plot/means").find("2 points"), std::string::npos) << dump(ui());
    run("click home/points/points:by_model.window\nframes 3\n");
    EXPECT_EQ(first_row(), "home/points/points:w=16") << "the largest number first";
    run("click home/points/points:by_mean\nframes 3\n");
    EXPECT_EQ(first_row(), "home/points/points:w=2");
    run("click home/points/points:w=2\nframes 3\nclick home/runs/runs:seed_1\nframes 3\n");
    ASSERT_TRUE(until([&] { return ui().has_model(); })) << dump(ui());
    EXPECT_EQ(fs::path(ui().status.path).filename(), "w=2,seed=1") << "found beside the table";
    run("view.workspace_home\nframes 4\nclick close_sweep\nframes 4\n");
    EXPECT_FALSE(is_there("home/points/points:w=2"));
}

TEST_F(SweepPages, StandsAmongTheRecentRuns) {
    write_sweep();
    stage_->frame().open(sweep_);
    ASSERT_TRUE(until([&] { return is_there("home/points/points:w=2"); })) << dump(ui());
    ASSERT_FALSE(ui().settings.recent.empty());
    EXPECT_EQ(ui().settings.recent.front().path, sweep_);
    run("click close_sweep\nframes 4\n");
    const std::string row = "home/main/" + sweep_;
    ASSERT_TRUE(until([&] { return value_of(row) == "sweep"; })) << dump(ui());
    EXPECT_FALSE(is_there("home/points/points:w=2"));
    run("click " + row + "\nframes 4\n");
    EXPECT_TRUE(until([&] { return is_there("home/points/points:w=2"); })) << dump(ui());
    const std::string run_folder = (fs::path(sweep_) / "w=2,seed=1").string();
    ui().settings.remember({.path = run_folder, .name = "one", .what = "", .opened = 1});
    run("view.workspace_biases\nframes 4\n");
    EXPECT_TRUE(is_there("explorer/runs/" + run_folder)) << dump(ui());
    EXPECT_FALSE(is_there("explorer/runs/" + sweep_)) << "no run";
}

TEST_F(SweepPages, IsReadAgainWhenItsTableIsAnotherOne) {
    write_sweep();
    const fs::path file = fs::path(sweep_) / "table.json";
    const json table = json::parse(read_file(file));
    const auto put_mean = [&](double mean) {
        json next = table;
        next["points"][0]["mean"] = mean;
        put(file, json_text(next));
    };
    const auto has = [&](const char* words) {
        return until(
            [&] { return value_of("home/points/points:w=2").find(words) != std::string::npos; });
    };
    stage_->frame().open(sweep_);
    ASSERT_TRUE(has("2.5000")) << dump(ui());
    put_mean(3.125);  // all its runs are done
    EXPECT_TRUE(has("3.1250")) << dump(ui());
    put(file, "{");
    ASSERT_TRUE(until([&] { return dump(ui()).find("cannot be read") != std::string::npos; }));
    put_mean(4.25);
    EXPECT_TRUE(has("4.2500")) << "after an error: " << dump(ui());
    run("view.workspace_biases\nframes 3\n");
    put_mean(5.75);
    stage_->frame().open(sweep_);
    steps(20);
    EXPECT_TRUE(has("5.7500")) << "opened again: " << dump(ui());
}

TEST_F(SweepPages, IsNoSlotOfCompareAndItsRunsAreNamed) {
    write_sweep();
    stage_->frame().open((fs::path(sweep_) / "w=2,seed=1").string());
    ASSERT_TRUE(until([&] { return ui().has_model(); })) << dump(ui());
    run("view.workspace_compare\nframes 4\n"
        "click compare/main/add_slot\nframes 3\nset compare/main/path " +
        sweep_ + "\nframes 2\nclick compare/main/add_path\nframes 3\n");
    const std::string words = value_of("compare/main/path_problem");
    EXPECT_NE(words.find("the folder of a sweep: take one of its runs"), std::string::npos)
        << dump(ui());
    EXPECT_NE(words.find("w=2,seed=1"), std::string::npos) << words;
    EXPECT_EQ(ui().selection.compare.slots.size(), 1U);
}

TEST_F(SweepPages, ThousandsOfPointsCostOnlyWhatIsInView) {
    make();
    fs::create_directories(sweep_);
    json table{{"metric", "loss"}, {"points", json::array()}, {"runs", json::array()}};
    constexpr int kPoints = 4000;
    for (int i = 0; i < kPoints; ++i) {
        const std::string name = "w=" + std::to_string(i);
        table["points"].push_back(sweep_point(name, std::to_string(i), double(i % 1000)));
        table["runs"].push_back(sweep_seed(name, 1, "gone", double(i)));
    }
    put(fs::path(sweep_) / "table.json", json_text(table));
    stage_->frame().open(sweep_);
    ASSERT_TRUE(until([&] { return is_there("home/points/points:w=0"); })) << dump(ui());
    const auto rows = [&] {
        return std::count_if(ui().recorder.last().begin(), ui().recorder.last().end(),
                             [](const WidgetRecord& widget) { return widget.kind == "row"; });
    };
    EXPECT_GT(rows(), 8);
    EXPECT_LT(rows(), 60);
    run("click home/points/points:by_model.window\nframes 3\n");
    EXPECT_EQ(first_row(), "home/points/points:w=3999");
    EXPECT_LT(rows(), 60);
    run("click home/points/points:by_model.window\nframes 3\n");
    EXPECT_EQ(first_row(), "home/points/points:w=0");
}

TEST_F(SweepPages, ATableThatCannotBeReadSaysWhy) {
    make();
    fs::create_directories(sweep_);
    const std::pair<const char*, const char*> bad[] = {
        {"{", "table.json"},
        {"[]", "allowed: an object"},
        {"{}", "points: found nothing"},
        {R"({"points": [1], "runs": []})", "points: found 1"},
        {R"({"points": [], "runs": [{"point": "x"}]})", "'x' is none of the points"}};
    for (const auto& [text, words] : bad) {
        put(fs::path(sweep_) / "table.json", text);
        const std::string problem = error_words([&] { (void)read_sweep_table(sweep_); });
        EXPECT_NE(problem.find(words), std::string::npos) << text << ": " << problem;
        EXPECT_EQ(problem.find(sweep_), 0U) << problem;
    }
    stage_->frame().open(sweep_);
    EXPECT_TRUE(until([&] {
        return dump(ui()).find("This sweep's table cannot be read") != std::string::npos;
    })) << dump(ui());
}

}  // namespace
}  // namespace aft::app
