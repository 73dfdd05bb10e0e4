#include "model/session/watched_files.h"

#include <sys/stat.h>

#include <iterator>

namespace aft::session {

namespace {

constexpr auto kLookEvery = std::chrono::seconds(2);

}  // namespace

std::optional<WatchedFiles::FileStamp> WatchedFiles::stamp_of(const std::string& path) {
    struct stat info{};
    if (::stat(path.c_str(), &info) != 0) return std::nullopt;
    constexpr int64_t kNanos = 1'000'000'000;
    return FileStamp{.device = info.st_dev,
                     .inode = info.st_ino,
                     .size = info.st_size,
                     .changed_ns = info.st_mtim.tv_sec * kNanos + info.st_mtim.tv_nsec};
}

void WatchedFiles::watch(const std::string& path, bool may_return) {
    if (files_.contains(path)) return;
    if (const auto stamp = stamp_of(path)) files_.emplace(path, WatchedFile{stamp, may_return});
}

void WatchedFiles::forget(const std::string& path) {
    files_.erase(path);
}

void WatchedFiles::note_unreadable(const std::string& path) {
    if (const auto stamp = stamp_of(path)) unreadable_[path] = *stamp;
}

bool WatchedFiles::is_unreadable(const std::string& path) const {
    const auto noted = unreadable_.find(path);
    return noted != unreadable_.end() && stamp_of(path) == noted->second;
}

std::vector<std::string> WatchedFiles::take_replaced(Clock::time_point now) {
    std::vector<std::string> replaced;
    if (files_.empty() || now - looked_ < kLookEvery) return replaced;
    looked_ = now;
    for (auto file = files_.begin(); file != files_.end();) {
        const auto stamp = stamp_of(file->first);
        WatchedFile& known = file->second;
        if (stamp && stamp != known.stamp) replaced.push_back(file->first);
        known.stamp = stamp;
        file = stamp || known.may_return ? std::next(file) : files_.erase(file);
    }
    return replaced;
}

std::optional<WatchedFiles::Clock::time_point> WatchedFiles::next_look() const {
    if (files_.empty()) return std::nullopt;
    return looked_ + kLookEvery;
}

}  // namespace aft::session
