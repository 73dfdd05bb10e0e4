#include "model/train/own_files.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <string_view>
#include <vector>

#include "core/check.h"
#include "core/files.h"
#include "model/checkpoints/run_paths.h"

namespace aft {
namespace {

bool is_number(std::string_view text) {
    const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
    return !text.empty() && std::all_of(text.begin(), text.end(), is_digit);
}

// step-NNNNNNNN.safetensors, step-NNNNNNNN.kind
bool is_step_name(std::string_view name) {
    constexpr std::string_view kStart = "step-";
    if (!name.starts_with(kStart)) return false;
    const size_t dot = name.find('.');
    if (dot == name.npos || !is_number(name.substr(kStart.size(), dot - kStart.size())))
        return false;
    const std::string_view extension = name.substr(dot);
    return extension == ".safetensors" || extension == ".kind";
}

bool is_kept_log(std::string_view name) {
    return name == "metrics.jsonl.kept" || name == "events.jsonl.kept";
}

// The process that a name like "config.json.tmp-123-4" belongs to, and the name that it was to
// get. -1: no such name.
int64_t owner_of(std::string_view name, std::string_view& wanted) {
    constexpr std::string_view kInfix = ".tmp-";
    const size_t mark = name.rfind(kInfix);
    if (mark == name.npos) return -1;
    const std::string_view rest = name.substr(mark + kInfix.size());
    const size_t dash = rest.find('-');
    if (dash == rest.npos || !is_number(rest.substr(0, dash)) || !is_number(rest.substr(dash + 1)))
        return -1;
    int64_t pid = -1;
    const auto read = std::from_chars(rest.data(), rest.data() + dash, pid);
    wanted = name.substr(0, mark);
    return read.ec == std::errc() ? pid : -1;
}

// This process has just locked the run: what bears its number is of an earlier one.
bool is_another_alive(int64_t pid) {
    if (pid <= 0 || pid == ::getpid()) return false;
    return ::kill(static_cast<pid_t>(pid), 0) == 0 || errno == EPERM;
}

bool is_leftover(const fs::path& path) {
    const std::string name = path.filename().string();
    if (is_kept_log(name)) return true;
    std::error_code error;
    const fs::path folder = path.parent_path();
    if (path.extension() == ".kind" && is_step_name(name))
        return !fs::exists(fs::path(path).replace_extension(".safetensors"), error);
    std::string_view wanted;
    const int64_t pid = owner_of(name, wanted);
    if (pid < 0 || is_another_alive(pid)) return false;
    return wanted == kConfigFile || is_kept_log(wanted) || is_step_name(wanted);
}

bool is_unfinished_branch(const fs::path& path) {
    const std::string name = path.filename().string();
    return name.starts_with(".until-") && name.ends_with(".partial");
}

void remove_where(const fs::path& folder, fs::file_type type, bool (*is_old)(const fs::path&)) {
    std::vector<fs::path> old;
    std::error_code error;
    for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
        std::error_code gone;
        if (it->symlink_status(gone).type() == type && is_old(it->path()))
            old.push_back(it->path());
    }
    for (const fs::path& path : old) fs::remove_all(path, error);  // what stays costs space alone
}

}  // namespace

FileHandle::~FileHandle() {
    if (fd_ >= 0) ::close(fd_);
}

static bool is_read_only(const fs::path& folder) {
    return ::faccessat(AT_FDCWD, folder.c_str(), W_OK | X_OK, AT_EACCESS) != 0 &&
           (errno == EACCES || errno == EPERM || errno == EROFS);
}

fs::path find_read_only_folder(const fs::path& run) {
    for (const fs::path& folder :
         {run, checkpoints_folder(run), history_folder(run), branches_folder(run)})
        if (is_read_only(folder)) return folder;
    return {};
}

void check_not_read_only(const fs::path& run) {
    const fs::path folder = find_read_only_folder(run);
    if (!folder.empty()) fail("{}: this folder is read-only: {}", folder.string(), kReadOnlyWords);
}

[[noreturn]] static void fail_opening(const fs::path& path, int number) {
    const fs::path folder = path.parent_path();
    if (number == ENOENT) fail("{}: {}", folder.string(), kGoneRun);
    check_not_read_only(folder);
    fail("{}: cannot be written: {}", path.string(), std::strerror(number));
}

FileHandle open_own(const fs::path& path, int flags) {
    check_no_link(path);
    constexpr int kAlways = O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;  // a pipe would hang
    FileHandle file(::open(path.c_str(), flags | kAlways, 0644));
    if (file.get() < 0) fail_opening(path, errno);
    struct stat info{};
    if (::fstat(file.get(), &info) != 0 || !S_ISREG(info.st_mode))
        fail("{}: cannot be written: it is a device or a pipe, expected a file", path.string());
    return file;
}

void append_line(const fs::path& path, std::string line) {
    line += '\n';
    const FileHandle file = open_own(path, O_WRONLY | O_APPEND);
    const off_t before = ::lseek(file.get(), 0, SEEK_END);
    size_t done = 0;
    while (done < line.size()) {
        const ssize_t n = ::write(file.get(), line.data() + done, line.size() - done);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) {
            const int error = n < 0 ? errno : ENOSPC;
            // A tail that cannot be cut off either is dropped by the next writer.
            const bool cut = before >= 0 && ::ftruncate(file.get(), before) == 0;
            fail("{}: a line could not be written: {}; {}", path.string(), std::strerror(error),
                 cut ? "the file is as it was before" : "its last line is torn");
        }
        done += static_cast<size_t>(n);
    }
}

void check_no_link(const fs::path& path) {
    std::error_code error;
    if (!fs::is_symlink(path, error)) return;
    fail(
        "{}: is a symbolic link (to {}), and a run never writes through one; put the file or "
        "folder itself in its place, or move the run folder as a whole",
        path.string(), fs::read_symlink(path, error).string());
}

void check_no_links(const fs::path& run) {
    for (const char* name :
         {kConfigFile, kMetricsFile, kEventsFile, "log.txt", "metrics.jsonl.kept",
          "events.jsonl.kept", kCheckpointsFolder, kHistoryFolder, kBranchesFolder})
        check_no_link(run / name);
}

void remove_leftovers(const fs::path& run) {
    for (const fs::path& folder : {run, checkpoints_folder(run), history_folder(run)})
        remove_where(folder, fs::file_type::regular, is_leftover);
    remove_where(branches_folder(run), fs::file_type::directory, is_unfinished_branch);
}

}  // namespace aft
