#include "model/train/run_folder.h"

#include <cerrno>
#include <chrono>
#include <cstring>
#include <ctime>
#include <fstream>

#include "core/caught.h"
#include "core/check.h"
#include "core/event_words.h"
#include "core/files.h"
#include "core/json.h"
#include "core/outside.h"
#include "model/checkpoints/run_paths.h"
#include "model/train/branch.h"
#include "model/train/history.h"
#include "model/train/own_files.h"
#include "model/train/run_lock.h"
#include "model/train/run_state.h"

namespace aft {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

std::string utc_now() {
    const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
    std::tm parts{};
    gmtime_r(&now, &parts);
    char text[32];
    std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
    return text;
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

// Truncation of a log after a step, in two phases: the constructor writes the kept lines to a
// temporary file (a full disk fails here), take() renames it over the log. Without take() nothing
// changes.
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
    check_no_link(log);
    log_ = log;
    const std::string text = read_file(log_);
    std::string kept;
    for (size_t begin = 0, end; (end = text.find('\n', begin)) != std::string::npos;
         begin = end + 1) {
        const std::string line = text.substr(begin, end - begin);
        const json parsed = parse_json(line, {.file = log_.native(), .line_at = begin});
        const json found = parsed.is_object() ? parsed.value("step", json(0)) : json();
        if (!found.is_number()) continue;
        const double at = std::min(found.get<double>(), 0x1p53);  // larger ones are no steps
        if (at > static_cast<double>(step)) {
            last_dropped_ = std::max(last_dropped_, static_cast<int64_t>(at));
            continue;
        }
        kept += line + '\n';
    }
    if (kept == text) return;
    const fs::path prepared = log_.string() + ".kept";
    check_no_link(prepared);
    write_atomically(prepared, kept);
    prepared_ = prepared;
}

struct KeptLogs {
    KeptLines metrics, events;
    KeptLogs(const fs::path& run, int64_t step)
        : metrics(metrics_path(run), step), events(events_path(run), step) {}
};

// Log lines and history frames.
void drop_after(const fs::path& run, int64_t step, KeptLogs& logs) {
    logs.metrics.take();
    logs.events.take();
    for (const int64_t later : history_steps(history_folder(run)))
        if (later > step) fs::remove(history_path(history_folder(run), later));
}

bool has_begun(const fs::path& run) {
    std::error_code error;
    const bool logged = fs::file_size(metrics_path(run), error) > 0 && !error;
    return logged || !checkpoint_steps(run).empty();
}

void check_folder(const fs::path& run, bool resume) {
    std::error_code error;
    if (fs::exists(run, error) && !fs::is_directory(run, error))
        fail("{}: is a file, expected a run folder", run.string());
    if (resume && !fs::exists(run, error)) fail("{}: {}", run.string(), kGoneRun);
    if (resume && !is_run_folder(run))
        fail("{}: not a run folder (no config.json in it)", run.string());
    const bool ours = is_run_folder(run) || fs::exists(run / "run.lock", error);
    if (!resume && !ours && fs::exists(run, error) && !fs::is_empty(run, error))
        fail("{}: the folder is not empty and holds no run; choose another one", run.string());
}

}  // namespace

struct RunFolder::Impl {
    fs::path path;
    FileHandle lock{};
    int64_t keep_checkpoints = 0;  // all, until a config says otherwise

    void say(const std::string& text) const {
        append_line(path / "log.txt", utc_now() + " " + printable_line(text));
    }
    void thin() const;
};

void RunFolder::Impl::thin() const {
    // Without knowing what is pinned nothing is removed.
    const std::string problem = error_words([&] { prune_saves(path, keep_checkpoints); });
    if (!problem.empty()) say("kept all checkpoints: " + problem);
}

RunFolder::RunFolder(const fs::path& path, const Config& config)
    : impl_(std::make_unique<Impl>(path)) {
    check_folder(path, /*resume=*/false);
    make_folder(path);
    impl_->lock = lock_run(path);
    check_no_links(path);
    if (has_begun(path))
        fail(
            "{}: a run has been started in this folder; continue with --resume, or choose another "
            "folder",
            path.string());
    remove_leftovers(path);
    make_folder(checkpoints_folder(path));
    update_config(config);
    impl_->say(fmt::format("started {} (Afterimage {})", config.name, version()));
}

RunFolder::RunFolder(const fs::path& path) : impl_(std::make_unique<Impl>(path)) {
    check_folder(path, /*resume=*/true);
    impl_->lock = lock_run(path);
    check_no_links(path);
}

std::string RunFolder::resume_from(int64_t step, const Config& config) {
    const fs::path& path = impl_->path;
    const std::vector<int64_t> saved = checkpoint_steps(path);
    if (!saved.empty() && saved.back() != step)
        fail("{}: this run was {} meanwhile, to step {}; open it again to continue", path.string(),
             saved.back() > step ? "trained further" : "rewound", saved.back());
    remove_leftovers(path);
    make_folder(checkpoints_folder(path));
    cut_torn_line(metrics_path(path));
    cut_torn_line(events_path(path));
    KeptLogs logs(path, step);
    drop_after(path, step, logs);
    const int64_t last = logs.metrics.last_dropped();
    const std::string lost = last > step ? unsaved_steps_text(step, last) : "";
    if (!lost.empty()) event("lost", step, {{"text", lost}});
    update_config(config);
    impl_->say(fmt::format("resumed {} at step {} (Afterimage {})", config.name, step, version()));
    return lost;
}

RunFolder::~RunFolder() = default;

void RunFolder::log(const StepReport& report) {
    ordered_json line{{"step", report.step}};
    for (const auto& [key, value] : report.values) line[key] = value;
    line["timing"] = report.timing;
    append_line(metrics_path(impl_->path), json_text(line));
}

void RunFolder::event(const std::string& kind, int64_t step, const json& detail) {
    const ordered_json line{
        {"step", step}, {"kind", kind}, {"detail", detail}, {"timing", {{"time", utc_now()}}}};
    append_line(events_path(impl_->path), json_text(line));
    const std::string words = event_words(detail);
    if (kind == "save" && words.empty()) return;   // saved, as save() has said
    if (kind == "lost") return impl_->say(words);  // names the steps, which come after this one
    impl_->say(fmt::format("step {} {}{}{}", step, kind, words.empty() ? "" : ": ", words));
}

fs::path RunFolder::save(const Checkpoint& checkpoint, SaveKind kind) {
    const fs::path path = checkpoint_path(impl_->path, checkpoint.step);
    const auto unsaved = [&](const Error& error) {
        const std::vector<int64_t> steps = checkpoint_steps(impl_->path);
        const std::string last =
            steps.empty() ? "no step is saved yet" : fmt::format("step {} is saved", steps.back());
        // A folder that was deleted may be there again, with what was logged since.
        const std::string remedy =
            is_run_folder(impl_->path)
                ? fmt::format(
                      "{}; see that there is disk space and that the folder can be "
                      "written, and continue with --resume {}",
                      last, impl_->path.string())
                : kGoneRun;
        return Error(fmt::format("step {} could not be saved: {}; {}", checkpoint.step,
                                 error.what(), remedy));
    };
    with_error(
        [&] {
            check_no_link(path);
            mark_save(impl_->path, checkpoint.step, kind);
            write_checkpoint(path, checkpoint);
        },
        unsaved);
    impl_->thin();
    impl_->say(fmt::format("saved step {}", checkpoint.step));
    return path;
}

void RunFolder::keep_save(int64_t step, SaveKind kind) {
    mark_save(impl_->path, step, kind);
    impl_->thin();
}

fs::path RunFolder::go_back(int64_t step) {
    const fs::path& path = impl_->path;
    KeptLogs logs(path, step);
    impl_->say(fmt::format("asked to go back to step {}: later ones become a branch", step));
    fs::path branch = keep_branch(path, step);
    // Nothing from here on needs disk space. Checkpoints first, the newest ahead: were this
    // cut short, a resume would drop the rest.
    const std::vector<int64_t> saved = checkpoint_steps(path);
    for (auto later = saved.rbegin(); later != saved.rend() && *later > step; ++later)
        remove_save(path, *later);
    drop_after(path, step, logs);
    return branch;
}

void RunFolder::update_config(const Config& config) {
    impl_->keep_checkpoints = config.train.keep_checkpoints;
    const std::string text = json_text(config_to_json(config), 2) + "\n";
    const fs::path path = config_path(impl_->path);
    std::error_code error;
    check_no_link(path);
    if (fs::exists(path, error) && read_file(path) == text) return;
    write_atomically(path, text);
}

const fs::path& RunFolder::path() const {
    return impl_->path;
}

fs::path new_run_path(const std::string& name) {
    std::error_code error;
    for (int64_t n = 1;; ++n) {
        fs::path path = fs::path("runs") / fmt::format("{}-{}", name, n);
        if (!fs::exists(path, error)) return path;
    }
}

// What every reader of events goes by: an object with the step and the kind.
static void check_event(const json& event, const std::string& file, uint64_t line_at) {
    const auto refuse = [&](std::string_view wanted, const json& found) {
        fail("{}: the line at byte {}: {}, found {}", shown_path(file), line_at, wanted,
             found_json(found));
    };
    if (!event.is_object()) refuse("an event is a JSON object", event);
    const json kind = event.value("kind", json()), step = event.value("step", json());
    if (!kind.is_string()) refuse("kind is a text", kind);
    if (!step.is_number_integer()) refuse("step is a whole number", step);
}

std::vector<json> read_events(const fs::path& run) {
    const fs::path path = events_path(run);
    uint64_t offset = 0;
    std::vector<json> lines;
    std::ifstream in(path, std::ios::binary);
    if (!in) return lines;  // nothing logged yet
    for (std::string line; std::getline(in, line);) {
        if (in.eof()) break;  // no newline yet: torn, or still being written
        json parsed = parse_json(line, {.file = path.native(), .line_at = offset});
        check_event(parsed, path.native(), offset);
        lines.push_back(std::move(parsed));
        offset += line.size() + 1;
    }
    return lines;
}

}  // namespace aft
