// --nproc and --rank-timeout of the commands that several processes can share: joins the group that
// the launcher's variables name, or starts local ranks. Main thread.
#pragma once
#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>

#include "app/commands/rooms.h"
#include "core/progress.h"
#include "model/distributed/local_ranks.h"
#include "model/distributed/rank_group.h"

namespace aft::app {

struct RankFlags {
    int64_t nproc = 0;
    double timeout_seconds = 60;
};
void add_rank_flags(CLI::App& command, RankFlags& flags);

class Ranks {
  public:
    // Joins the others, who are doing `work` too: Error naming the first of its keys where one of
    // them differs. Alone where there are none. Before Work, whose threads the cores are shared
    // with: see globals().
    Ranks(const RankFlags& flags, const Globals& globals, const nlohmann::json& work);
    [[nodiscard]] RankGroup* group() const { return group_.get(); }  // nullptr: alone
    [[nodiscard]] bool leads() const { return group_ == nullptr || group_->rank() == 0; }
    // The flags of the program; threads = this rank's part of the machine's where none are given.
    [[nodiscard]] const Globals& globals() const { return globals_; }

  private:
    Globals globals_;
    std::unique_ptr<LocalRanks> others_;
    std::unique_ptr<RankGroup> group_;  // goes first: lets the others go
};

// Of a rank beside the leader: does its part of a job; nothing is printed, and a SIGTERM stops it.
// Exit code.
[[nodiscard]] int follow_job(const Ranks& ranks, const std::function<void(const JobControl&)>& job);
// Of a rank beside the leader: takes part in all trainings of its, and prints nothing. Exit code.
[[nodiscard]] int follow_training(const Ranks& ranks);

}  // namespace aft::app
