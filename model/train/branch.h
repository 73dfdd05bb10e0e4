// Branch: what a run did after a step, kept whole when the run goes back to that step. A run folder
// of its own, RUN/branches/until-NNNNNNNN, that can be opened and resumed. Thread of the run's
// writer, which holds its lock; blocks on files and never removes anything of the run.
#pragma once
#include <filesystem>

namespace aft {

// Logs, settings and notes are copied, checkpoints after `step` and all history frames are linked
// (copied where links are not possible). The folder appears only when it is whole. Empty path:
// nothing came after `step`.
[[nodiscard]] std::filesystem::path keep_branch(const std::filesystem::path& run, int64_t step);

}  // namespace aft
