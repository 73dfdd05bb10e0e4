// The files of the open model: notices that another program has replaced one, drops what was read
// from it and tells. What lies in a file counts as the same while device, inode, size and time of
// change are. Trainer thread.
#include <sys/stat.h>

#include <algorithm>

#include "core/files.h"
#include "model/session/trainer_state.h"

namespace aft::session {

namespace {

constexpr auto kLookEvery = std::chrono::seconds(2);

std::optional<FileStamp> stamp_of(const std::string& path) {
    struct stat info {};
    if (::stat(path.c_str(), &info) != 0) return std::nullopt;
    constexpr int64_t kNanos = 1'000'000'000;
    return FileStamp{.device = info.st_dev,
                     .inode = info.st_ino,
                     .size = info.st_size,
                     .changed_ns = info.st_mtim.tv_sec * kNanos + info.st_mtim.tv_nsec};
}

// Files that go are of no interest: their owner thins them out.
std::vector<std::string> take_replaced(Files& files) {
    std::vector<std::string> replaced;
    for (auto known = files.known.begin(); known != files.known.end();) {
        const auto now = stamp_of(known->first);
        if (now && *now != known->second) {
            replaced.push_back(known->first);
            known->second = *now;
        }
        known = now ? std::next(known) : files.known.erase(known);
    }
    return replaced;
}

std::string words_of(const std::vector<std::string>& replaced) {
    if (replaced.size() == 1) return replaced.front() + " was replaced on disk";
    return fmt::format("{} files of this run were replaced on disk, {} first", replaced.size(),
                       replaced.front());
}

// The model that is shown, read again. Where that cannot be, what is shown stays.
std::string reload(Live& live, Shared& shared) {
    const std::string shown = "; what is shown was read before, open it again to see the new one";
    try {
        auto fresh = std::make_shared<Checkpoint>(read_checkpoint(live.opened->path));
        const auto model_of = [](const Config& config) { return config_to_json(config)["model"]; };
        if (model_of(fresh->config) != model_of(live.opened->config))
            return " by another model" + shown;
        if (!live.data_source.empty()) fresh->config.data.source = live.data_source;
        live.config = fresh->config;
        live.opened = std::move(fresh);
        const Status before = live.status;
        describe_model(live, *live.opened);
        live.status.target_step = std::max(live.status.target_step, before.target_step);
        if (live.status.following) live.status.step = std::max(live.status.step, before.step);
        live.status.saved_step = live.opened->step;
        publish_checkpoint(live, shared, live.opened);
        return " and read again";
    } catch (const std::exception& error) {
        return fmt::format(" and cannot be read ({}){}", error.what(), shown);
    }
}

}  // namespace

void watch_file(Live& live, const std::string& path) {
    if (live.files.known.contains(path)) return;
    if (const auto stamp = stamp_of(path)) live.files.known.emplace(path, *stamp);
}

bool look_at_files(Live& live, Shared& shared) {
    const auto now = Clock::now();
    if (live.files.known.empty() || now - live.files.looked < kLookEvery) return false;
    live.files.looked = now;
    const std::vector<std::string> replaced = take_replaced(live.files);
    if (replaced.empty()) return false;
    std::string words = words_of(replaced);
    const auto snapshot = shared.snapshot.latest();
    if (!snapshot) {  // it could not be opened
        live.status.message = words + "; open it again";
        return true;
    }
    // Answers so far were of the old files. The same weights once more, so that later ones count.
    live.valid_since = live.stamp + 1;
    publish_moments(live, shared);
    publish_checkpoint(live, shared, snapshot->checkpoint);
    const bool is_shown = live.opened && std::find(replaced.begin(), replaced.end(),
                                                   live.opened->path) != replaced.end();
    if (is_shown && live.trainer)
        words += "; training goes on from what was read before";
    else if (is_shown)
        words += reload(live, shared);
    else
        words += "; stored moments are read again";
    live.status.message = words;
    return true;
}

Clock::time_point next_look(const Live& live) {
    return live.files.looked + kLookEvery;
}

}  // namespace aft::session
