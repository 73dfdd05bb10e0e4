// WatchedFiles: notices that another program has replaced a file that was read. The content of a
// file counts as the same while device, inode, size and time of change are. Trainer thread.
#pragma once
#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace aft::session {

class WatchedFiles {
  public:
    using Clock = std::chrono::steady_clock;

    // Before it is read: as it is now, if it is there. One that goes is watched no longer (a run
    // thins out its own), but with `may_return` what comes in its place is noticed.
    void watch(const std::string& path, bool may_return = false);
    void forget(const std::string& path);  // this process itself replaces it
    void forget_all() { *this = {}; }
    // One that cannot be read need not be tried again until it changes: noted before it is read,
    // and the note is taken back where it was read.
    void note_unreadable(const std::string& path);
    void note_readable(const std::string& path) { unreadable_.erase(path); }
    [[nodiscard]] bool is_unreadable(const std::string& path) const;
    // Those that were replaced since they were watched; looks every two seconds at most.
    [[nodiscard]] std::vector<std::string> take_replaced(Clock::time_point now = Clock::now());
    // nullopt: nothing is watched.
    [[nodiscard]] std::optional<Clock::time_point> next_look() const;

  private:
    struct FileStamp {
        uint64_t device = 0, inode = 0;
        int64_t size = 0, changed_ns = 0;
        [[nodiscard]] bool operator==(const FileStamp&) const = default;
    };
    [[nodiscard]] static std::optional<FileStamp> stamp_of(const std::string& path);

    struct WatchedFile {
        std::optional<FileStamp> stamp;  // nullopt: it is gone
        bool may_return = false;
    };
    std::map<std::string, WatchedFile> files_;     // by path
    std::map<std::string, FileStamp> unreadable_;  // as they were
    Clock::time_point looked_{};
};

}  // namespace aft::session
