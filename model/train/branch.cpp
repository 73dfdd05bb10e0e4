#include "model/train/branch.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/caught.h"
#include "core/check.h"
#include "core/files.h"
#include "model/checkpoints/run_paths.h"
#include "model/metrics.h"
#include "model/train/history.h"
#include "model/train/run_folder.h"

namespace aft {

namespace {

// The newest step that the logs or checkpoints of a run know.
int64_t last_step(const fs::path& run) {
    uint64_t offset = 0;
    int64_t last = -1;
    Curves curves;
    while (read_rows(run, offset, curves)) {
    }
    if (const auto rows = curves.step.extremes(0, curves.step.size()))
        last = std::llround(curves.step[rows->high]);
    const std::vector<int64_t> saved = checkpoint_steps(run);
    return saved.empty() ? last : std::max(last, saved.back());
}

fs::path free_name(const fs::path& folder, int64_t step) {
    const std::string name = fmt::format("until-{:08}", step);
    fs::path path = folder / name;
    std::error_code ignored;
    for (int n = 2; fs::exists(path, ignored); ++n) path = folder / fmt::format("{}-{}", name, n);
    return path;
}

// Files that are only ever replaced whole: a second name costs nothing and stays as it is.
void link_file(const fs::path& from, const fs::path& to) {
    std::error_code error;
    fs::create_hard_link(from, to, error);
    if (error) fs::copy_file(from, to, error);
    if (error) fail("{}: cannot be kept as {}: {}", from.string(), to.string(), error.message());
}

void copy_logs(const fs::path& run, const fs::path& branch) {
    for (const char* name : {kConfigFile, kMetricsFile, kEventsFile, "notes.json", "log.txt"}) {
        std::error_code error;
        if (!fs::exists(run / name, error)) continue;
        fs::copy_file(run / name, branch / name, error);
        if (error)
            fail("{}: cannot be copied to {}: {}", (run / name).string(), branch.string(),
                 error.message());
    }
}

void link_steps(const fs::path& run, const fs::path& branch, int64_t step) {
    make_folder(checkpoints_folder(branch));
    std::error_code error;
    for (const int64_t saved : checkpoint_steps(run)) {
        if (saved <= step) continue;
        link_file(checkpoint_path(run, saved), checkpoint_path(branch, saved));
        if (const fs::path kind = save_kind_path(run, saved); fs::exists(kind, error))
            link_file(kind, save_kind_path(branch, saved));
    }
    const std::vector<int64_t> frames = history_steps(history_folder(run));
    if (frames.empty()) return;
    make_folder(history_folder(branch));
    for (const int64_t frame : frames)
        link_file(history_path(history_folder(run), frame),
                  history_path(history_folder(branch), frame));
}

}  // namespace

fs::path keep_branch(const fs::path& run, int64_t step) {
    const int64_t last = last_step(run);
    if (last <= step) return {};
    const fs::path folder = branches_folder(run), whole = free_name(folder, last);
    const fs::path growing = folder / ("." + whole.filename().string() + ".partial");
    make_folder(folder);
    std::error_code error;
    fs::remove_all(growing, error);  // of a process that ended in the middle
    const OnFailure remove_it([&] { fs::remove_all(growing, error); });
    make_folder(growing);
    copy_logs(run, growing);
    link_steps(run, growing, step);
    fs::rename(growing, whole, error);
    if (error) fail("{}: cannot be made: {}", whole.string(), error.message());
    return whole;
}

}  // namespace aft
