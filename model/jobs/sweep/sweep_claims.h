// SweepClaims: which process trains which run of a sweep. A run is taken by the lock (flock) of a
// file DIR/claims/N; a process that dies lets go of it, and another one continues the run. How a
// run ended is written into its file. One object a process; one thread; blocks on files.
#pragma once
#include <filesystem>
#include <optional>
#include <string>

#include "model/train/own_files.h"

namespace aft {

class SweepClaims {
  public:
    explicit SweepClaims(const std::filesystem::path& out) : folder_(out / "claims") {}
    // Before any process takes a run: what an earlier start left counts no more.
    void clear() const;

    struct RunClaim {
        FileHandle file;
        // Set: a process of this start has ended it. "": it is done; else why it failed.
        std::optional<std::string> error;
    };
    // nullopt: another process trains it now.
    [[nodiscard]] std::optional<RunClaim> take(size_t run) const;
    void end(const RunClaim& claim, const std::string& error) const;
    // No process trains a run now.
    [[nodiscard]] bool are_free(size_t runs) const;

    // Asks all processes to save what they train and to end. Any thread.
    void ask_stop() const;
    [[nodiscard]] bool is_stop_asked() const;

  private:
    [[nodiscard]] std::filesystem::path file_of(size_t run) const;
    std::filesystem::path folder_;
};

}  // namespace aft
