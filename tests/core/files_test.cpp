#include "core/files.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <cstdlib>
#include <fstream>

#include "core/check.h"
#include "tests/core/scratch.h"

namespace aft {
namespace {

TEST(Files, what_is_written_is_read_back) {
    const Scratch folder;
    const std::string content("line\n\0binary\xff", 13);
    write_atomically(folder / "a", content);
    EXPECT_EQ(read_file(folder / "a"), content);
    write_atomically(folder / "a", std::string(300000, 'x'));
    EXPECT_EQ(read_file(folder / "a"), std::string(300000, 'x'));
    EXPECT_EQ(folder.entries(), 1) << "no temporary file is left";
}

TEST(Files, a_part_is_read_where_it_lies) {
    const Scratch folder;
    write_atomically(folder / "a", "0123456789");
    EXPECT_EQ(read_file_part(folder / "a", 3, 4), "3456");
    EXPECT_EQ(read_file_part(folder / "a", 0, 10), "0123456789");
    EXPECT_EQ(read_file_part(folder / "a", 10, 0), "");
    for (const auto& [offset, bytes] :
         std::vector<std::pair<uint64_t, uint64_t>>{{8, 3}, {11, 0}, {3, uint64_t{0} - 1}}) {
        const std::string words =
            error_of([&] { (void)read_file_part(folder / "a", offset, bytes); });
        EXPECT_TRUE(has(words, "has become shorter")) << words;
    }
    EXPECT_TRUE(has(error_of([&] { (void)read_file_part(folder.path(), 0, 1); }), "is a folder"));
}

TEST(Files, whether_a_file_can_be_written_is_told_before_the_work) {
    const Scratch folder;
    check_writable(folder / "new");
    EXPECT_EQ(folder.entries(), 0) << "asking leaves nothing behind";
    write_atomically(folder / "a", "old");
    check_writable(folder / "a");
    EXPECT_EQ(read_file(folder / "a"), "old");
    const std::string nowhere = (folder / "none" / "a").string();
    EXPECT_TRUE(has(error_of([&] { check_writable(nowhere); }), nowhere));
    EXPECT_TRUE(has(error_of([&] { check_writable(folder.path()); }), "it is a folder"));
}

TEST(Files, a_temporary_folder_goes_with_all_that_is_in_it) {
    fs::path path;
    {
        const TemporaryFolder folder("aft-test-");
        path = folder.path();
        make_folder(folder / "inner");
        write_atomically(folder / "inner" / "a", "x");
        EXPECT_TRUE(fs::is_regular_file(path / "inner" / "a"));
    }
    EXPECT_FALSE(fs::exists(path));
}

TEST(Files, an_error_while_writing_leaves_the_old_file) {
    const Scratch folder;
    write_atomically(folder / "a", "old");
    const auto broken = [](std::ostream& out) {
        out << std::string(200000, 'x');
        fail("stopped half way");
    };
    EXPECT_EQ(error_of([&] { write_atomically(folder / "a", broken); }), "stopped half way");
    EXPECT_EQ(read_file(folder / "a"), "old");
    EXPECT_EQ(folder.entries(), 1);
}

// A file-size limit fails like a full disk: the write call returns an error in the middle.
class SizeLimit {
  public:
    explicit SizeLimit(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
        ::getrlimit(RLIMIT_FSIZE, &before_);
        rlimit now = before_;
        now.rlim_cur = bytes;
        ::setrlimit(RLIMIT_FSIZE, &now);
    }
    SizeLimit(const SizeLimit&) = delete;
    SizeLimit& operator=(const SizeLimit&) = delete;
    ~SizeLimit() {
        ::setrlimit(RLIMIT_FSIZE, &before_);
        std::signal(SIGXFSZ, handler_);
    }

  private:
    rlimit before_{};
    void (*handler_)(int);
};

TEST(Files, a_disk_that_fills_up_leaves_the_old_file_and_says_so) {
    const Scratch folder;
    write_atomically(folder / "model", "old");
    std::string message;
    {
        const SizeLimit limit(100000);
        message = error_of([&] { write_atomically(folder / "model", std::string(300000, 'x')); });
    }
    EXPECT_TRUE(has(message, (folder / "model").string())) << message;
    EXPECT_TRUE(has(message, "unchanged")) << message;
    EXPECT_TRUE(has(message, "free some space")) << message;
    EXPECT_EQ(read_file(folder / "model"), "old");
    EXPECT_EQ(folder.entries(), 1);
}

TEST(Files, errors_of_reading_name_the_path_and_the_reason) {
    const Scratch folder;
    write_atomically(folder / "big", std::string(100, 'x'));
    const std::string missing = error_of([&] { (void)read_file(folder / "none"); });
    EXPECT_TRUE(has(missing, (folder / "none").string()) && has(missing, "No such file"))
        << missing;
    EXPECT_TRUE(has(error_of([&] { (void)read_file(folder.path()); }), "it is a folder"));
    EXPECT_TRUE(has(error_of([&] { (void)read_file("/dev/zero"); }), "device"));
    const std::string large = error_of([&] { (void)read_file(folder / "big", 99); });
    EXPECT_TRUE(has(large, "100 bytes") && has(large, "99")) << large;
    EXPECT_EQ(read_file(folder / "big", 100).size(), 100U);
}

TEST(Files, a_device_or_a_folder_is_never_replaced) {
    const Scratch folder;
    EXPECT_TRUE(has(error_of([&] { write_atomically("/dev/null", "x"); }), "device"));
    EXPECT_TRUE(has(error_of([&] { write_atomically(folder.path(), "x"); }), "folder"));
    const std::string gone = error_of([&] { write_atomically(folder / "no/such/file", "x"); });
    EXPECT_TRUE(has(gone, "no/such/file") && has(gone, "No such file")) << gone;
}

TEST(Files, writing_through_a_link_replaces_what_it_points_to) {
    const Scratch folder;
    write_atomically(folder / "real", "old");
    fs::create_symlink(folder / "real", folder / "link");
    write_atomically(folder / "link", "new");
    EXPECT_TRUE(fs::is_symlink(folder / "link"));
    EXPECT_EQ(read_file(folder / "real"), "new");
}

TEST(Files, folders_are_made_with_their_parents) {
    const Scratch folder;
    make_folder(folder / "a/b/c");
    EXPECT_TRUE(fs::is_directory(folder / "a/b/c"));
    make_folder(folder / "a/b/c");
    write_atomically(folder / "file", "");
    EXPECT_TRUE(has(error_of([&] { make_folder(folder / "file"); }), "file"));
    EXPECT_TRUE(has(error_of([&] { make_folder(folder / "file/below"); }), "below"));
}

TEST(Files, the_user_folders_follow_the_environment) {
    ::setenv("XDG_CONFIG_HOME", "/tmp/somewhere", 1);
    EXPECT_EQ(config_folder(), "/tmp/somewhere/afterimage");
    ::setenv("XDG_CONFIG_HOME", "relative", 1);
    ::setenv("HOME", "/tmp/home", 1);
    EXPECT_EQ(config_folder(), "/tmp/home/.config/afterimage");
}

TEST(Files, shared_files_are_found_and_a_missing_one_is_named) {
    const Scratch folder;
    make_folder(folder / "assets");
    write_atomically(folder / "assets/thing", "");
    ::setenv("AFTERIMAGE_SHARE", folder.path().c_str(), 1);
    EXPECT_EQ(shared_file("assets/thing"), folder / "assets/thing");
    const std::string message = error_of([] { (void)shared_file("assets/none"); });
    EXPECT_TRUE(has(message, "assets/none") && has(message, folder.path().string())) << message;
    ::unsetenv("AFTERIMAGE_SHARE");
    EXPECT_FALSE(version().empty());
}

TEST(Files, messages_repeat_only_the_end_of_a_vast_path) {
    const Scratch folder;
    const fs::path vast = folder / std::string(400000, 'x');
    for (const std::string& message :
         {error_of([&] { (void)read_file(vast); }), error_of([&] { make_folder(vast); }),
          error_of([&] { write_atomically(vast, "x"); })}) {
        EXPECT_TRUE(has(message, "'...xxx")) << message.substr(0, 200);
        EXPECT_LT(message.size(), 200u);
    }
}

}  // namespace
}  // namespace aft
