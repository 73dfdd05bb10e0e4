// TwinRuns: what the open run did before it was rewound, kept in its branches, or of a branch the
// run that it was taken from and the other branches; of a run that was begun from a saved step, and
// of that step, the run that saved it: their losses, for the timeline. Read once, and
// again after a rewind, by a thread of its own. Window thread; every method returns at once.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "app/state/background.h"
#include "app/state/ui.h"

namespace aft::app {

struct TwinRun {
    std::string path, name;  // "until-00000060"
    NumberColumn step, loss;
};

// Of training, as it was logged: in bits where they are, else ("loss") in nats.
[[nodiscard]] const NumberColumn* loss_column(const TaskTraits& task, const Curves& curves,
                                              std::string* unit = nullptr);

class TwinRuns {
  public:
    static constexpr size_t kMostTwins = 4;  // the newest
    void update(PaneContext& ui);
    [[nodiscard]] const std::vector<TwinRun>& runs() const;

  private:
    using Runs = std::vector<TwinRun>;
    std::string path_;
    int64_t rewinds_ = -1;
    bool is_asked_ = false;
    std::shared_ptr<const Runs> shown_;
    struct Answer {
        std::string of;
        int64_t rewinds = 0;
        Runs runs;
    };
    Background<Answer> work_;
};

// The folders of the twins of a run, newest first. Blocks on the disk.
[[nodiscard]] std::vector<std::string> twin_folders(const std::string& run);

}  // namespace aft::app
