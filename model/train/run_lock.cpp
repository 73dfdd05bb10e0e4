#include "model/train/run_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "core/check.h"

namespace aft {

// is_run_locked() of another process holds it for a moment, so one refusal is asked again.
bool try_lock(const FileHandle& file, const std::filesystem::path& path) {
    constexpr int kTries = 5;
    for (int i = 0; i < kTries; ++i) {
        if (flock(file.get(), LOCK_EX | LOCK_NB) == 0) return true;
        if (errno != EWOULDBLOCK)
            fail("{}: cannot be locked: {}", path.string(), std::strerror(errno));
        if (i + 1 < kTries) usleep(5000);
    }
    return false;
}

FileHandle lock_run(const std::filesystem::path& run) {
    const std::filesystem::path path = run / "run.lock";
    // The owner of an existing run.lock may open it for writing in a folder that takes no new file.
    check_not_read_only(run);
    FileHandle file = open_own(path, O_RDWR);
    if (!try_lock(file, path)) {
        char owner[64] = {};
        const ssize_t n = read(file.get(), owner, sizeof owner - 1);
        fail(
            "{}: this run is in use by another process ({}): stop it first, or train into another "
            "folder",
            run.string(), n > 0 ? std::string(owner, static_cast<size_t>(n)) : "unknown");
    }
    const std::string owner = fmt::format("process {}", getpid());
    // Who holds it is a courtesy to the next one that asks; the lock itself is the flock.
    const bool written =
        ftruncate(file.get(), 0) == 0 && write(file.get(), owner.data(), owner.size()) > 0;
    static_cast<void>(written);
    return file;
}

bool is_run_locked(const std::filesystem::path& run) {
    const FileHandle file(::open((run / "run.lock").c_str(), O_RDONLY | O_CLOEXEC));
    if (file.get() < 0) return false;
    return flock(file.get(), LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
}

}  // namespace aft
