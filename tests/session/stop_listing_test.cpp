// Jobs and sessions that list a folder end at the next entry after a stop is requested, without
// finishing the list. The C library's readdir() is replaced here: it counts the entries, requests a
// stop at one of them, or starts the list over at its end.
#include <dirent.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <atomic>
#include <future>
#include <thread>

#include "core/progress.h"
#include "model/jobs.h"
#include "model/jobs/browse.h"
#include "tests/session/session_fixture.h"
#include "tests/source_file.h"

namespace aft {
namespace {

// A folder with this many pictures: empty files, because nothing but their names is read.
class NamedPictures {
  public:
    explicit NamedPictures(int count) {
        for (int i = 0; i < count; ++i) put(scratch_ / (std::to_string(i) + ".png"), "");
    }
    [[nodiscard]] std::string folder() const { return scratch_.path().string(); }
    [[nodiscard]] std::string spec() const {
        return "images:" + folder() + "?size=8&levels=4&gray=1";
    }

  private:
    Scratch scratch_;
};

// Calls `on_read` for each entry that readdir() reads from this folder, "." and ".." included, and
// at the end of the list. One at a time; `on_read` runs on the thread that lists.
class ListedFolder {
  public:
    // Returns whether a list at its end starts over.
    using OnRead = std::function<bool(bool is_end)>;

    ListedFolder(const std::string& path, OnRead on_read) : on_read_(std::move(on_read)) {
        struct stat status{};
        EXPECT_EQ(::stat(path.c_str(), &status), 0);
        device_ = status.st_dev;
        inode_ = status.st_ino;
        current = this;
    }
    ~ListedFolder() { current = nullptr; }
    ListedFolder(const ListedFolder&) = delete;
    ListedFolder& operator=(const ListedFolder&) = delete;

    static dirent* read(DIR* folder) {
        const ListedFolder* const listed = current;
        dirent* entry = read_entry(folder);
        if (listed == nullptr || !listed->is_same(folder)) return entry;
        if (listed->on_read_(/*is_end=*/entry == nullptr) && entry == nullptr) {
            ::rewinddir(folder);
            entry = read_entry(folder);
        }
        return entry;
    }

  private:
    // The C library's readdir() under its second name.
    static dirent* read_entry(DIR* folder) {
        static_assert(sizeof(dirent) == sizeof(dirent64));
        return reinterpret_cast<dirent*>(::readdir64(folder));
    }
    [[nodiscard]] bool is_same(DIR* folder) const {
        struct stat status{};
        return ::fstat(::dirfd(folder), &status) == 0 && status.st_dev == device_ &&
               status.st_ino == inode_;
    }

    static inline std::atomic<const ListedFolder*> current{nullptr};
    OnRead on_read_;
    dev_t device_ = 0;
    ino_t inode_ = 0;
};

}  // namespace
}  // namespace aft

extern "C" dirent* readdir(DIR* folder) {
    return aft::ListedFolder::read(folder);
}

namespace aft {
namespace {

Config with_data(const NamedPictures& files) {
    Config config = small_run();
    config.data.source = files.spec();
    return config;
}

TEST(StopListing, AListOfManyFilesEndsInTheMiddle) {
    const NamedPictures files(500);
    std::stop_source stop;
    int entries = 0;
    const ListedFolder listed(files.folder(), [&](bool is_end) {
        if (!is_end && ++entries == 100) stop.request_stop();
        return false;
    });
    EXPECT_THROW((void)open_data(with_data(files), stop.get_token()), Interrupted);
    EXPECT_GE(entries, 100);
    EXPECT_LE(entries, 102) << "but '.' and '..', which no list holds, the next entry is the last";
}

TEST(StopListing, AReadListIsNotExaminedAfterAStop) {
    const NamedPictures files(500);
    std::stop_source stop;
    int ends = 0;
    const ListedFolder listed(files.folder(), [&](bool is_end) {
        if (is_end) {
            ++ends;
            stop.request_stop();
        }
        return false;
    });
    EXPECT_THROW((void)open_data(with_data(files), stop.get_token()), Interrupted);
    EXPECT_EQ(ends, 1);
}

TEST(StopListing, EachJobThatListsPicturesLooksAtItsToken) {
    const NamedPictures files(50);
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

// The list of the data starts over at its end, so that only a stop ends it.
TEST(StopListing, ASessionThatIsClosedLeavesTheListOfItsData) {
    constexpr int64_t kMiddle = 1000, kHangs = 150'000;  // the latter takes two minutes or longer
    const NamedPictures files(500);
    const Scratch scratch;
    OpenRequest request = new_run(scratch / "run", /*autostart=*/true);
    request.config->data.source = files.spec();
    std::promise<void> middle;
    std::atomic<int64_t> entries = 0;
    const ListedFolder listed(files.folder(), [&](bool is_end) {
        if (!is_end && ++entries == kMiddle) middle.set_value();
        // An entry a millisecond while the other thread closes the session.
        if (entries >= kMiddle) std::this_thread::sleep_for(std::chrono::milliseconds(1));
        return entries < kHangs;
    });
    auto session = std::make_unique<TestSession>(request);
    ASSERT_EQ(middle.get_future().wait_for(std::chrono::minutes(2)), std::future_status::ready);
    EXPECT_EQ(session->status().state, RunState::opening);
    session.reset();
    EXPECT_LT(entries, kHangs) << "the list was not left";
    EXPECT_FALSE(fs::exists(scratch / "run"));
}

}  // namespace
}  // namespace aft
