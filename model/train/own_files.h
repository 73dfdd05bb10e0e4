// The files that a run folder itself is made of (config.json, logs, lock, checkpoints, history):
// opened and appended to without following a symbolic link, and cleared of what a kill left.
// Thread of the run's writer; blocks on files. Every error names the path.
#pragma once
#include <filesystem>
#include <string>
#include <utility>

namespace aft {

// What a run in a folder that cannot be written is good for.
inline constexpr const char* kReadOnlyWords =
    "its run can be looked at, not trained; copy it to where you may write to train on";

// Of a folder that vanished while its run was trained.
inline constexpr const char* kGoneRun =
    "the folder of this run is gone: it was deleted or moved; put it back to train on";

class FileHandle {
  public:
    explicit FileHandle(int fd = -1) : fd_(fd) {}
    ~FileHandle();
    FileHandle(const FileHandle&) = delete;
    FileHandle& operator=(const FileHandle&) = delete;
    FileHandle(FileHandle&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
    FileHandle& operator=(FileHandle&& other) noexcept {
        std::swap(fd_, other.fd_);
        return *this;
    }
    [[nodiscard]] int get() const { return fd_; }

  private:
    int fd_;
};

// Made where it is missing. flags: O_WRONLY | O_APPEND, O_RDWR. Error: a link, no regular file, or
// what the system says.
[[nodiscard]] FileHandle open_own(const std::filesystem::path& path, int flags);
// Returns the first folder of a run (itself, checkpoints/, history/, branches/) in which this
// process cannot create files: permissions, a read-only file system, or the immutable attribute;
// empty if there is none. Existing files do not count: their owner may still write them there.
[[nodiscard]] std::filesystem::path find_read_only_folder(const std::filesystem::path& run);
// Error if there is one: names it and what to do.
void check_not_read_only(const std::filesystem::path& run);
// Appends a whole line or nothing: what a full disk left of it is cut off again.
void append_line(const std::filesystem::path& path, std::string line);
// Error if this is a symbolic link (names what it leads to). A missing file is fine.
void check_no_link(const std::filesystem::path& path);
// check_no_link() of everything that training appends to, replaces, or makes files in.
void check_no_links(const std::filesystem::path& run);
// Temporary files and unfinished branches of a writer that was killed, and kinds of saves without
// their checkpoint. Only names that a run's writer makes, never those of a process that lives.
// Call it with the run's lock held.
void remove_leftovers(const std::filesystem::path& run);

}  // namespace aft
