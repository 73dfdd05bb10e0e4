#include "model/train/run_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <ctime>
#include <fstream>
#include <set>

#include "core/check.h"
#include "core/files.h"
#include "core/json.h"
#include "core/outside.h"
#include "model/train/branch.h"
#include "model/train/history.h"
#include "model/train/run_state.h"
#include "model/train/step_files.h"

namespace aft {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

class FileHandle {
  public:
    explicit FileHandle(int fd = -1) : fd_(fd) {}
    ~FileHandle() {
        if (fd_ >= 0) close(fd_);
    }
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

std::string utc_now() {
    const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
    std::tm parts{};
    gmtime_r(&now, &parts);
    char text[32];
    std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
    return text;
}

// Appends a whole line or nothing: what a full disk left of it is cut off again.
void append_line(const fs::path& path, std::string line) {
    line += '\n';
    const FileHandle file(open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
    if (file.get() < 0) fail("{}: cannot be written: {}", path.string(), std::strerror(errno));
    const off_t before = lseek(file.get(), 0, SEEK_END);
    size_t done = 0;
    while (done < line.size()) {
        const ssize_t n = write(file.get(), line.data() + done, line.size() - done);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) {
            const int error = n < 0 ? errno : ENOSPC;
            // A tail that cannot be cut off either is dropped by the next writer.
            const bool cut = before >= 0 && ftruncate(file.get(), before) == 0;
            fail("{}: a line could not be written: {}; {}", path.string(), std::strerror(error),
                 cut ? "the file is as it was before" : "its last line is torn");
        }
        done += static_cast<size_t>(n);
    }
}

// A process that was killed may have left half a line: cut it off before the next one is added.
void cut_torn_line(const fs::path& path) {
    std::error_code error;
    if (!fs::exists(path, error)) return;
    const std::string text = read_file(path);
    const size_t end = text.rfind('\n');
    const size_t whole = end == std::string::npos ? 0 : end + 1;
    if (whole == text.size()) return;
    fs::resize_file(path, whole, error);
    if (error) fail("{}: cannot be repaired: {}", path.string(), error.message());
}

// Whole lines from `offset` on, each parsed; offset moves behind the last of them.
std::vector<json> read_lines(const fs::path& path, uint64_t& offset) {
    std::vector<json> lines;
    std::ifstream in(path, std::ios::binary);
    if (!in) return lines;  // nothing logged yet
    in.seekg(static_cast<std::streamoff>(offset));
    for (std::string line; std::getline(in, line);) {
        if (in.eof()) break;  // no newline yet: torn, or still being written
        json parsed = parse_json(line, {.file = path.native(), .line_at = offset});
        if (!parsed.is_object())
            fail("{}: the line at byte {} is not a JSON object", path.string(), offset);
        lines.push_back(std::move(parsed));
        offset += line.size() + 1;
    }
    return lines;
}

// The lines of a log up to a step, written beside it: what needs room on the disk comes before
// anything changes. Without take() it is as if nothing had been.
class KeptLines {
  public:
    KeptLines(const fs::path& log, int64_t step);
    ~KeptLines() {
        std::error_code ignored;
        if (!prepared_.empty()) fs::remove(prepared_, ignored);
    }
    KeptLines(const KeptLines&) = delete;
    KeptLines& operator=(const KeptLines&) = delete;
    void take() {
        if (!prepared_.empty()) fs::rename(prepared_, log_);
        prepared_.clear();
    }
    [[nodiscard]] int64_t last_dropped() const { return last_dropped_; }  // step; -1 = none

  private:
    int64_t last_dropped_ = -1;
    fs::path log_, prepared_;  // empty: the log ends there already
};

KeptLines::KeptLines(const fs::path& log, int64_t step) {
    std::error_code error;
    if (!fs::exists(log, error)) return;
    log_ = fs::canonical(log);
    const std::string text = read_file(log_);
    std::string kept;
    for (size_t begin = 0, end; (end = text.find('\n', begin)) != std::string::npos;
         begin = end + 1) {
        const std::string line = text.substr(begin, end - begin);
        const json parsed = parse_json(line, {.file = log_.native(), .line_at = begin});
        const json value = parsed.is_object() ? parsed.value("step", json(0)) : json();
        if (!value.is_number_integer()) continue;
        const auto at = value.get<int64_t>();
        if (at > step) last_dropped_ = std::max(last_dropped_, at);
        if (at > step) continue;
        kept += line + '\n';
    }
    if (kept == text) return;
    const fs::path prepared = log_.string() + ".kept";
    write_atomically(prepared, kept);
    prepared_ = prepared;
}

struct KeptLogs {
    KeptLines metrics, events;
    KeptLogs(const fs::path& run, int64_t step)
        : metrics(run / "metrics.jsonl", step), events(run / "events.jsonl", step) {}
};

// Log lines and history frames.
void drop_after(const fs::path& run, int64_t step, KeptLogs& logs) {
    logs.metrics.take();
    logs.events.take();
    for (const int64_t later : history_steps(run / "history"))
        if (later > step) fs::remove(history_path(run / "history", later));
}

FileHandle lock_run(const fs::path& run) {
    const fs::path path = run / "run.lock";
    FileHandle file(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
    if (file.get() < 0)
        fail("{}: the run folder cannot be locked: {}", path.string(), std::strerror(errno));
    if (flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
        if (errno != EWOULDBLOCK)
            fail("{}: the run folder cannot be locked: {}", path.string(), std::strerror(errno));
        char owner[64] = {};
        const ssize_t n = read(file.get(), owner, sizeof owner - 1);
        fail(
            "{}: this run is in use by another process ({}): stop it first, or train into another "
            "folder",
            run.string(), n > 0 ? std::string(owner, static_cast<size_t>(n)) : "unknown");
    }
    const std::string owner = fmt::format("process {}", getpid());
    // Who holds it is a courtesy to the next one that asks; the lock itself is the flock.
    const bool told =
        ftruncate(file.get(), 0) == 0 && write(file.get(), owner.data(), owner.size()) > 0;
    static_cast<void>(told);
    return file;
}

bool has_begun(const fs::path& run) {
    std::error_code error;
    const bool logged = fs::file_size(run / "metrics.jsonl", error) > 0 && !error;
    return logged || !checkpoint_steps(run).empty();
}

void check_folder(const fs::path& run, bool resume) {
    std::error_code error;
    if (fs::exists(run, error) && !fs::is_directory(run, error))
        fail("{}: is a file, expected a run folder", run.string());
    if (resume && !is_run_folder(run))
        fail("{}: not a run folder (no config.json in it)", run.string());
    const bool ours = is_run_folder(run) || fs::exists(run / "run.lock", error);
    if (!resume && !ours && fs::exists(run, error) && !fs::is_empty(run, error))
        fail("{}: the folder is not empty and holds no run; choose another one", run.string());
}

constexpr uint64_t kMostNotesBytes = uint64_t{16} << 20;

std::set<int64_t> pinned_steps(const fs::path& run) {
    std::set<int64_t> pinned;
    std::error_code error;
    if (!fs::exists(run / "notes.json", error)) return pinned;
    const json notes = read_json_file(run / "notes.json", kMostNotesBytes);
    if (!notes.is_object() || !notes.contains("pinned")) return pinned;
    for (const json& step : notes["pinned"])
        if (step.is_number_integer()) pinned.insert(step.get<int64_t>());
    return pinned;
}

}  // namespace

struct RunFolder::Parts {
    fs::path path;
    FileHandle lock{};
    int64_t keep_checkpoints = 0;  // all, until a config says otherwise

    void say(const std::string& text) const {
        append_line(path / "log.txt", utc_now() + " " + printable_line(text));
    }
    void thin() const;
};

// Newest `keep_checkpoints` and the pinned ones stay; 0 keeps all.
void RunFolder::Parts::thin() const {
    if (keep_checkpoints <= 0) return;
    const std::vector<int64_t> steps = checkpoint_steps(path);
    std::set<int64_t> pinned;
    try {
        pinned = pinned_steps(path);
    } catch (const Error& error) {  // without knowing what is pinned nothing is removed
        say(std::string("kept all checkpoints: ") + error.what());
        return;
    }
    for (size_t i = 0; i + static_cast<size_t>(keep_checkpoints) < steps.size(); ++i) {
        std::error_code ignored;  // one file too many is no reason to end a run
        if (!pinned.contains(steps[i])) fs::remove(checkpoint_path(path, steps[i]), ignored);
    }
}

RunFolder::RunFolder(const fs::path& path, const Config& config)
    : parts_(std::make_unique<Parts>(path)) {
    check_folder(path, /*resume=*/false);
    make_folder(path);
    parts_->lock = lock_run(path);
    if (has_begun(path))
        fail(
            "{}: a run has been started in this folder; go on with --resume, or choose another "
            "folder",
            path.string());
    make_folder(path / "checkpoints");
    update_config(config);
    parts_->say(fmt::format("started {} (Afterimage {})", config.name, version()));
}

RunFolder::RunFolder(const fs::path& path) : parts_(std::make_unique<Parts>(path)) {
    check_folder(path, /*resume=*/true);
    parts_->lock = lock_run(path);
}

void RunFolder::go_on_from(int64_t step, const Config& config) {
    const fs::path& path = parts_->path;
    const std::vector<int64_t> saved = checkpoint_steps(path);
    if (!saved.empty() && saved.back() != step)
        fail("{}: this run was {} meanwhile, to step {}; open it again to go on", path.string(),
             saved.back() > step ? "trained further" : "rewound", saved.back());
    make_folder(path / "checkpoints");
    cut_torn_line(path / "metrics.jsonl");
    cut_torn_line(path / "events.jsonl");
    KeptLogs logs(path, step);
    drop_after(path, step, logs);
    if (const int64_t last = logs.metrics.last_dropped(); last > step)
        event("lost", step, {{"text", lost_words(step, last)}});
    update_config(config);
    parts_->say(fmt::format("resumed {} at step {} (Afterimage {})", config.name, step, version()));
}

RunFolder::~RunFolder() = default;

void RunFolder::log(const StepReport& report) {
    ordered_json line{{"step", report.step}};
    for (const auto& [key, value] : report.values) line[key] = value;
    line["timing"] = report.timing;
    append_line(parts_->path / "metrics.jsonl", line.dump());
}

void RunFolder::event(const std::string& kind, int64_t step, const json& detail) {
    const ordered_json line{
        {"step", step}, {"kind", kind}, {"detail", detail}, {"timing", {{"time", utc_now()}}}};
    append_line(parts_->path / "events.jsonl", line.dump());
    parts_->say(fmt::format("step {} {}: {}", step, kind, detail.dump()));
}

fs::path RunFolder::save(const Checkpoint& checkpoint) {
    const fs::path path = checkpoint_path(parts_->path, checkpoint.step);
    try {
        write_checkpoint(path, checkpoint);
    } catch (const Error& error) {
        const std::vector<int64_t> steps = checkpoint_steps(parts_->path);
        const std::string last =
            steps.empty() ? "no step is saved yet" : fmt::format("step {} is saved", steps.back());
        fail("step {} could not be saved: {}; {}; make room and go on with --resume {}",
             checkpoint.step, error.what(), last, parts_->path.string());
    }
    parts_->thin();
    parts_->say(fmt::format("saved step {}", checkpoint.step));
    return path;
}

fs::path RunFolder::go_back(int64_t step) {
    const fs::path& path = parts_->path;
    KeptLogs logs(path, step);
    parts_->say(fmt::format("asked to go back to step {}: later ones become a branch", step));
    fs::path branch = keep_branch(path, step);
    // Nothing from here on needs room on the disk. Checkpoints first, the newest ahead: were this
    // cut short, a resume would drop the rest.
    const std::vector<int64_t> saved = checkpoint_steps(path);
    for (auto later = saved.rbegin(); later != saved.rend() && *later > step; ++later)
        fs::remove(checkpoint_path(path, *later));
    drop_after(path, step, logs);
    return branch;
}

void RunFolder::update_config(const Config& config) {
    parts_->keep_checkpoints = config.train.keep_checkpoints;
    const std::string text = config_to_json(config).dump(2) + "\n";
    const fs::path path = parts_->path / "config.json";
    std::error_code error;
    if (fs::exists(path, error) && read_file(path) == text) return;
    write_atomically(path, text);
}

const fs::path& RunFolder::path() const {
    return parts_->path;
}

bool is_run_folder(const fs::path& path) {
    std::error_code error;
    return fs::is_directory(path, error) && fs::exists(path / "config.json", error);
}

fs::path new_run_path(const std::string& name) {
    std::error_code error;
    for (int64_t n = 1;; ++n) {
        fs::path path = fs::path("runs") / fmt::format("{}-{}", name, n);
        if (!fs::exists(path, error)) return path;
    }
}

std::vector<json> read_metrics(const fs::path& run, uint64_t& offset) {
    return read_lines(run / "metrics.jsonl", offset);
}

std::vector<json> read_events(const fs::path& run) {
    uint64_t offset = 0;
    return read_lines(run / "events.jsonl", offset);
}

std::vector<int64_t> checkpoint_steps(const fs::path& run) {
    return step_files(run / "checkpoints");
}

fs::path checkpoint_path(const fs::path& run, int64_t step) {
    return step_file(run / "checkpoints", step);
}

}  // namespace aft
