// Saves: why each checkpoint of a run was written, and which of them are removed again. The kind
// lies beside its checkpoint in checkpoints/step-NNNNNNNN.kind, one word; a scheduled save has no
// such file. Thread of the run's writer, which holds its lock; blocks on files.
#pragma once
#include <cstdint>
#include <filesystem>

namespace aft {

// In the order of how long they stay.
enum class SaveKind {
    by_time,         // train.save_minutes: until the next save of any kind
    scheduled,       // train.checkpoint_every and the end: the newest train.keep_checkpoints
    before_change,   // of a setting that can make training diverge: the newest one
    best,            // train.keep_best, the lowest validation loss so far: until the next one
    best_scheduled,  // both: then as scheduled
    by_hand,         // for good
};

[[nodiscard]] constexpr bool is_best(SaveKind kind) {
    return kind == SaveKind::best || kind == SaveKind::best_scheduled;
}

[[nodiscard]] std::filesystem::path save_kind_path(const std::filesystem::path& run, int64_t step);
// The kind in that file; an unknown word counts as by_hand, so that nothing is removed.
[[nodiscard]] SaveKind save_kind(const std::filesystem::path& run, int64_t step);
// Call it before the checkpoint is written. One that is there already is never given a lesser kind.
void mark_save(const std::filesystem::path& run, int64_t step, SaveKind kind);
// Removes a checkpoint and its kind. Error if the checkpoint stays.
void remove_save(const std::filesystem::path& run, int64_t step);
// Removes what no kind keeps; the steps in `pinned` of notes.json stay. keep 0 = all scheduled
// ones. Error, and nothing removed, where notes.json cannot be read.
void prune_saves(const std::filesystem::path& run, int64_t keep);

}  // namespace aft
