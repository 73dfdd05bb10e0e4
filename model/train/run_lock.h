// The lock of a run folder (run.lock, flock): one process trains a run, any number read it.
#pragma once
#include <filesystem>

#include "model/train/own_files.h"

namespace aft {

// Holds the lock for as long as the handle lives. Error if another process (or session) holds it
// (names it and the remedy), or if the folder is read-only.
[[nodiscard]] FileHandle lock_run(const std::filesystem::path& run);
// The lock of an open file, for as long as the handle lives. False: another one holds it. Error
// names the path.
[[nodiscard]] bool try_lock(const FileHandle& file, const std::filesystem::path& path);
// A process (or session) trains this run now. False also where there is no such run. Any thread.
[[nodiscard]] bool is_run_locked(const std::filesystem::path& run);

}  // namespace aft
