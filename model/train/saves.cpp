#include "model/train/saves.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <vector>

#include "core/caught.h"
#include "core/check.h"
#include "core/files.h"
#include "core/json.h"
#include "model/train/own_files.h"
#include "model/train/run_folder.h"

namespace aft {
namespace {

constexpr std::pair<SaveKind, const char*> kWords[] = {{SaveKind::by_time, "by-time"},
                                                       {SaveKind::before_change, "before-change"},
                                                       {SaveKind::best, "best"},
                                                       {SaveKind::best_scheduled, "best-scheduled"},
                                                       {SaveKind::by_hand, "by-hand"}};

constexpr uint64_t kMostNotesBytes = uint64_t{16} << 20, kMostKindBytes = 4096;

std::set<int64_t> pinned_steps(const fs::path& run) {
    std::set<int64_t> pinned;
    std::error_code error;
    if (!fs::exists(run / "notes.json", error)) return pinned;
    const nlohmann::json notes = read_json_file(run / "notes.json", kMostNotesBytes);
    if (!notes.is_object() || !notes.contains("pinned")) return pinned;
    for (const nlohmann::json& step : notes["pinned"])
        if (step.is_number_integer()) pinned.insert(step.get<int64_t>());
    return pinned;
}

// Adds all but the newest `keep` steps of one kind to `dropped`.
void drop_older(std::vector<int64_t> steps, int64_t keep, std::vector<int64_t>& dropped) {
    const auto most = static_cast<size_t>(keep);
    for (size_t i = 0; i + most < steps.size(); ++i) dropped.push_back(steps[i]);
}

}  // namespace

fs::path save_kind_path(const fs::path& run, int64_t step) {
    return checkpoint_path(run, step).replace_extension(".kind");
}

SaveKind save_kind(const fs::path& run, int64_t step) {
    const fs::path path = save_kind_path(run, step);
    std::error_code error;
    if (!fs::exists(path, error)) return SaveKind::scheduled;
    std::string text;
    const std::string problem = error_words([&] { text = read_file(path, kMostKindBytes); });
    for (const auto& [kind, word] : kWords)
        if (problem.empty() && text.substr(0, text.find('\n')) == word) return kind;
    return SaveKind::by_hand;  // no word of ours
}

void mark_save(const fs::path& run, int64_t step, SaveKind kind) {
    const fs::path path = save_kind_path(run, step);
    std::error_code error;
    if (fs::exists(checkpoint_path(run, step), error)) {
        const auto [low, high] = std::minmax({kind, save_kind(run, step)});
        const bool is_both = low == SaveKind::scheduled && high == SaveKind::best;
        kind = is_both ? SaveKind::best_scheduled : high;
    }
    check_no_link(path);
    for (const auto& [known, word] : kWords)
        if (known == kind) return write_atomically(path, fmt::format("{}\n", word));
    fs::remove(path, error);
}

void remove_save(const fs::path& run, int64_t step) {
    fs::remove(checkpoint_path(run, step));
    std::error_code ignored;  // without its checkpoint it means nothing
    fs::remove(save_kind_path(run, step), ignored);
}

void prune_saves(const fs::path& run, int64_t keep) {
    const std::set<int64_t> pinned = pinned_steps(run);
    const std::vector<int64_t> steps = checkpoint_steps(run);
    std::map<SaveKind, std::vector<int64_t>> of;
    for (const int64_t step : steps)
        if (!pinned.contains(step)) of[save_kind(run, step)].push_back(step);
    std::vector<int64_t>&changes = of[SaveKind::before_change],
    &scheduled = of[SaveKind::scheduled];
    // An older one of these is a save like any other; an older best one is not kept for itself.
    if (changes.size() > 1) scheduled.insert(scheduled.end(), changes.begin(), changes.end() - 1);
    std::vector<int64_t> dropped;
    int64_t best = -1;
    for (const SaveKind kind : {SaveKind::best, SaveKind::best_scheduled})
        if (!of[kind].empty()) best = std::max(best, of[kind].back());
    for (const int64_t step : of[SaveKind::best])
        if (step != best) dropped.push_back(step);
    for (const int64_t step : of[SaveKind::best_scheduled])
        if (step != best) scheduled.push_back(step);
    std::sort(scheduled.begin(), scheduled.end());
    if (keep > 0) drop_older(scheduled, keep, dropped);
    for (const int64_t step : of[SaveKind::by_time])
        if (step != steps.back()) dropped.push_back(step);
    for (const int64_t step : dropped)  // one file too many is no reason to end a run
        static_cast<void>(error_words([&] { remove_save(run, step); }));
}

}  // namespace aft
