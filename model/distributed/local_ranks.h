// LocalRanks: the other processes of `--nproc N`, for those who have no launcher: this program with
// its own arguments, as ranks 1 to N - 1 on this machine. They end with this process, whatever ends
// it.
#pragma once
#include <sys/types.h>

#include <vector>

#include "model/distributed/rank_place.h"

namespace aft {

class LocalRanks {
  public:
    // Starts count - 1 processes; Error where one cannot be started.
    explicit LocalRanks(int count);
    ~LocalRanks();  // waits for them; those that stay are killed
    LocalRanks(const LocalRanks&) = delete;
    LocalRanks& operator=(const LocalRanks&) = delete;
    [[nodiscard]] const RankPlace& place() const { return place_; }  // of this process: rank 0

  private:
    RankPlace place_;
    std::vector<pid_t> others_;
};

// Of a rank other than 0: Ctrl-C and a closed terminal are rank 0's to act on, and a SIGTERM
// is only noted. A rank that LocalRanks started ends with its parent.
void hold_signals();
[[nodiscard]] bool is_stop_asked();  // SIGTERM came. Any thread.
[[nodiscard]] bool is_child_rank();  // LocalRanks of another process started this one

}  // namespace aft
