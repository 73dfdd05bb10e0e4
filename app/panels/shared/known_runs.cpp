#include "app/panels/shared/known_runs.h"

#include "app/state/open_path.h"
#include "model/jobs/summary.h"

namespace aft::app {

void KnownRuns::look() {
    if (here_.is_busy()) return;
    here_.start([most = most_](const auto& publish, const std::stop_token& stop) {
        publish(runs_here(most, stop));
    });
}

std::vector<std::string> KnownRuns::paths(const ViewState& ui) const {
    std::vector<std::string> paths;
    for (const RecentItem& item : ui.settings.recent)
        if (!is_sweep_item(item)) paths.push_back(item.path);
    if (const auto here = here_.latest()) paths.insert(paths.end(), here->begin(), here->end());
    paths = of_runs(paths);
    if (paths.size() > most_) paths.resize(most_);
    return paths;
}

}  // namespace aft::app
