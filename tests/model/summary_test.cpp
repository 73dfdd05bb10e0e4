// The rows of the list of recent runs, and which runs are found without being told.
#include <gtest/gtest.h>

#include "model/jobs.h"
#include "tests/model/train_fixtures.h"

namespace aft {
namespace {

namespace fs = std::filesystem;

struct Place {  // of the process, put back at the end
    fs::path before = fs::current_path();
    explicit Place(const fs::path& path) { fs::current_path(path); }
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;
    ~Place() { fs::current_path(before); }
};

void train_run(const std::string& out, int64_t until) {
    TrainRequest request;
    request.config = tiny_config();
    request.out = out;
    request.until = until;
    (void)train_job(request, {});
}

TEST(Summary, TellsHowARunEnded) {
    const Scratch folder;
    const std::string run = (folder / "run").string();
    train_run(run, 3);
    EXPECT_EQ(summarize_run(run).state, "paused");
    EXPECT_EQ(summarize_run(run).step, 3);
    std::ofstream(folder / "run" / "events.jsonl", std::ios::app)
        << R"({"step":4,"kind":"error","detail":{"text":"NaN or infinity first in 'logits'"}})"
        << "\n";
    EXPECT_EQ(summarize_run(run).state, "failed");
    std::ofstream(folder / "run" / "events.jsonl", std::ios::app)
        << R"({"step":3,"kind":"rewind","detail":{}})"
        << "\n";
    EXPECT_EQ(summarize_run(run).state, "paused") << "it went back to before the error";
    EXPECT_NE(summarize_run((folder / "none").string()).error, "");
}

TEST(Summary, RunsHereAreThoseInTheFolderOfRuns) {
    const Scratch folder;
    const Place there(folder.path());
    EXPECT_TRUE(runs_here(8).empty()) << "there is no folder runs";
    for (const char* name : {"first", "second", "third"}) train_run(std::string("runs/") + name, 1);
    fs::create_directories("runs/no-run");
    std::ofstream("runs/a-file") << "x";
    const auto now = fs::file_time_type::clock::now();
    fs::last_write_time("runs/first/config.json", now + std::chrono::seconds(2));
    fs::last_write_time("runs/second/config.json", now + std::chrono::seconds(1));
    fs::last_write_time("runs/third/config.json", now);
    const auto found = runs_here(8);
    ASSERT_EQ(found.size(), 3u);
    EXPECT_EQ(fs::path(found[0]).filename(), "first");
    EXPECT_EQ(fs::path(found[2]).filename(), "third");
    EXPECT_TRUE(fs::path(found[0]).is_absolute());
    EXPECT_EQ(runs_here(2).size(), 2u);
}

}  // namespace
}  // namespace aft
