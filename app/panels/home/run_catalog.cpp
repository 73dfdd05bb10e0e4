#include "app/panels/home/run_catalog.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/state/open_path.h"
#include "app/state/sweep_table.h"
#include "core/caught.h"

namespace aft::app {

namespace {

void read_system(CatalogPage& page) {
    page.system_problem = error_words([&] { page.system = system_report(); });
}

void make_demo_pictures(CatalogPage& page) {
    for (size_t i = 0; i < std::size(kDemos); ++i) {
        const std::string problem = error_words([&] {
            const Image picture = data_picture(load_preset(kDemos[i].preset).data.source, 0);
            page.demos[i] = resize_area(picture, kDemoSide, kDemoSide);
        });
        if (!problem.empty()) page.demos_problem = problem;
    }
}

// Runs that were started elsewhere, from the command line say, are not among the recent ones.
std::vector<std::string> with_runs_here(std::vector<std::string> paths,
                                        const std::stop_token& stop) {
    for (const std::string& found : runs_here(kMostRows, stop)) {
        const bool is_known = std::any_of(paths.begin(), paths.end(), [&](const std::string& path) {
            return is_same_path(path, found);
        });
        if (!is_known && paths.size() < kMostRows) paths.push_back(found);
    }
    return paths;
}

// As a row among the runs: its steps are the runs that are done.
RunSummary summarize_sweep(const std::string& path) {
    RunSummary out;
    out.path = path;
    out.name = shown_name(path);
    out.state = kSweepItem;
    out.metric = std::nan("");
    out.error = error_words(
        [&] {
            const SweepTable table = read_sweep_table(path);
            out.what = fmt::format("sweep of {} points{}", table.rows.size(),
                                   table.metric.empty() ? "" : ", " + table.metric);
            out.step = table.count("done");
            for (const SweepRow& row : table.rows) out.target_step += int64_t(row.seeds.size());
        },
        plain_words);
    return out;
}

}  // namespace

void RunCatalog::refresh(const std::vector<std::string>& paths, double now_s, double max_age_s) {
    if (is_reading()) return;  // one at a time; a newer request is taken in a later frame
    const bool is_new = paths != paths_ || !page();
    if (!is_new && now_s - asked_at_ < max_age_s) return;
    paths_ = paths;
    asked_at_ = now_s;
    pages_.start([paths, before = page()](const auto& publish, const std::stop_token& stop) {
        CatalogPage page = before ? *before : CatalogPage{};
        page.runs.clear();
        if (!before) {
            read_system(page);
            page.demos.resize(std::size(kDemos));
        }
        for (const std::string& path : with_runs_here(of_runs(paths), stop)) {
            if (stop.stop_requested()) break;
            page.runs.push_back(is_sweep_folder(path) ? summarize_sweep(path)
                                                      : summarize_run(path, stop));
        }
        publish(page);
        if (before || stop.stop_requested()) return;
        make_demo_pictures(page);  // takes longer than all the rest, and changes no layout
        publish(page);
    });
}

}  // namespace aft::app
