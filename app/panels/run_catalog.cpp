#include "app/panels/run_catalog.h"

#include <nlohmann/json.hpp>

namespace aft::app {

namespace {

nlohmann::json read_system() {
    try {
        return system_report();
    } catch (const std::exception& error) {
        return {{"error", error.what()}};
    }
}

}  // namespace

uint64_t RunCatalog::done_stamp() const {
    const auto done = done_->latest();
    return done ? done->stamp : 0;
}

void RunCatalog::refresh(const std::vector<std::string>& paths, double now_s, double max_age_s) {
    if (is_reading()) return;  // one at a time; a newer wish is taken up in a later frame
    const bool is_new = paths != paths_ || stamp_ == 0;
    if (!is_new && now_s - asked_at_ < max_age_s) return;
    paths_ = paths;
    asked_at_ = now_s;
    const uint64_t stamp = ++stamp_;
    reader_ = std::jthread(
        [paths, stamp, box = box_, done = done_, before = page()](const std::stop_token& stop) {
            auto page = std::make_shared<CatalogPage>();
            page->system = before ? before->system : read_system();
            for (const std::string& path : paths) {
                if (stop.stop_requested()) break;
                page->runs.push_back(summarize_run(path));
            }
            box->publish(page);
            done->publish(std::make_shared<Done>(Done{stamp}));
        });
}

}  // namespace aft::app
