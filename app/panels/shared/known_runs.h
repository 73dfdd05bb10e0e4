// KnownRuns: the runs that a list offers: those that were opened, and those in runs/ of the folder
// one is in, which a thread of its own looks for. Window thread; every method returns at once.
#pragma once
#include <string>
#include <vector>

#include "app/state/background.h"
#include "app/state/ui.h"

namespace aft::app {

class KnownRuns {
  public:
    explicit KnownRuns(size_t most) : most_(most) {}
    void look();  // when the list opens
    [[nodiscard]] bool is_looking() const { return here_.is_busy(); }
    // Each once, the newest first; at most so many.
    [[nodiscard]] std::vector<std::string> paths(const ViewState& ui) const;

  private:
    size_t most_;
    Background<std::vector<std::string>> here_;
};

}  // namespace aft::app
