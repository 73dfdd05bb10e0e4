#include "app/panels/home/run_catalog.h"

#include <algorithm>

#include "app/state/open_path.h"

namespace aft::app {

namespace {

void read_system(CatalogPage& page) {
    try {
        page.system = system_report();
    } catch (const std::exception& error) {
        page.system_problem = error.what();
    }
}

// A demo whose picture cannot be made says why when it is chosen.
std::vector<Image> demo_pictures() {
    std::vector<Image> pictures;
    for (const Demo& demo : kDemos) {
        Image picture;
        try {
            picture = data_picture(load_preset(demo.preset).data.source, 0);
            picture = resize_area(picture, kDemoSide, kDemoSide);
        } catch (const std::exception&) {
            picture = {};
        }
        pictures.push_back(std::move(picture));
    }
    return pictures;
}

// A saved step that was opened, to branch from it say, is a part of its run: that one is listed.
std::vector<std::string> of_runs(const std::vector<std::string>& paths) {
    std::vector<std::string> out;
    for (const std::string& path : paths) {
        const std::string run = run_of_step(path);
        const std::string& listed = run.empty() ? path : run;
        const bool is_known = std::any_of(out.begin(), out.end(), [&](const std::string& other) {
            return is_same_path(other, listed);
        });
        if (!is_known) out.push_back(listed);
    }
    return out;
}

// Runs that were started elsewhere, from the command line say, are not among the recent ones.
std::vector<std::string> with_runs_here(std::vector<std::string> paths) {
    for (const std::string& found : runs_here(kMostRows)) {
        const bool is_known = std::any_of(paths.begin(), paths.end(), [&](const std::string& path) {
            return is_same_path(path, found);
        });
        if (!is_known && paths.size() < kMostRows) paths.push_back(found);
    }
    return paths;
}

}  // namespace

uint64_t RunCatalog::done_stamp() const {
    const auto done = done_->latest();
    return done ? done->stamp : 0;
}

void RunCatalog::refresh(const std::vector<std::string>& paths, double now_s, double max_age_s) {
    if (is_reading()) return;  // one at a time; a newer request is taken in a later frame
    const bool is_new = paths != paths_ || stamp_ == 0;
    if (!is_new && now_s - asked_at_ < max_age_s) return;
    paths_ = paths;
    asked_at_ = now_s;
    const uint64_t stamp = ++stamp_;
    reader_ = std::jthread(
        [paths, stamp, box = box_, done = done_, before = page()](const std::stop_token& stop) {
            auto page =
                before ? std::make_shared<CatalogPage>(*before) : std::make_shared<CatalogPage>();
            page->runs.clear();
            if (!before) {
                read_system(*page);
                page->demos.resize(std::size(kDemos));
            }
            for (const std::string& path : with_runs_here(of_runs(paths))) {
                if (stop.stop_requested()) break;
                page->runs.push_back(summarize_run(path));
            }
            box->publish(page);
            if (!before) {  // they take longer than all the rest, and change no layout
                page = std::make_shared<CatalogPage>(*page);
                page->demos = demo_pictures();
                box->publish(page);
            }
            done->publish(std::make_shared<Done>(Done{stamp}));
        });
}

}  // namespace aft::app
