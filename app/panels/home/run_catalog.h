// RunCatalog: summaries of the recent runs, the pictures of the demos and the system report, read
// by a thread of its own, so that the window never waits for a file. Window thread; every method
// returns at once.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "app/state/background.h"
#include "model/jobs/lists.h"
#include "model/jobs/summary.h"
#include "model/system.h"

namespace aft::app {

inline constexpr size_t kMostRows = 8;

struct Demo {
    const char *preset, *title, *sentence, *action;  // what a click on it runs
};
inline constexpr Demo kDemos[] = {
    {"demo-mirror", "Mirror", "Learns to look at the mirrored pixel", "file.open_demo"},
    {"demo-tiles", "Tiles", "Learns the period of a pattern", "file.train_demo_tiles"},
    {"demo-shapes", "Shapes", "Classifies discs, boxes and bars", "file.open_demo_shapes"}};
inline constexpr int64_t kDemoSide = 48;  // pixels of its picture

struct CatalogPage {
    std::vector<RunSummary> runs;  // in the order asked for, then the newest of runs/ here
    SystemReport system;           // read once; as it starts where that failed
    std::string system_problem;    // why; "" = it was read
    std::vector<Image> demos;      // of kDemos, made once; empty where that failed
    std::string demos_problem;     // why it did
};

class RunCatalog {
  public:
    // Starts reading if the paths changed, or if the last answer is older than `max_age_s` and
    // asked for again.
    void refresh(const std::vector<std::string>& paths, double now_s, double max_age_s);
    // nullptr at first.
    [[nodiscard]] std::shared_ptr<const CatalogPage> page() const { return pages_.latest(); }
    [[nodiscard]] bool is_reading() const { return pages_.is_busy(); }

  private:
    std::vector<std::string> paths_;
    double asked_at_ = -1e9;
    Background<CatalogPage> pages_;
};

}  // namespace aft::app
