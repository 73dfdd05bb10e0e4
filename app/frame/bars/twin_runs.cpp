#include "app/frame/bars/twin_runs.h"

#include <algorithm>
#include <filesystem>

#include "core/caught.h"
#include "model/jobs/stored_biases.h"
#include "model/jobs/summary.h"
#include "model/model_files.h"

namespace aft::app {

namespace fs = std::filesystem;

std::vector<std::string> twin_folders(const std::string& run) {
    std::error_code ignored;
    const fs::path own = fs::absolute(run, ignored).lexically_normal();
    const fs::path kept_in = run_of_branch(own);
    const fs::path root = kept_in.empty() ? own : kept_in;
    const fs::path taken_from = kept_in.empty() ? fs::path(run_begun_from(own.string())) : kept_in;
    std::vector<fs::path> found;
    for (const auto& entry : fs::directory_iterator(branches_folder(root), ignored))
        if (entry.is_directory(ignored) && entry.path() != own) found.push_back(entry.path());
    std::sort(found.begin(), found.end(), [](const fs::path& a, const fs::path& b) {
        std::error_code none;
        return fs::last_write_time(a, none) > fs::last_write_time(b, none);
    });
    // What a log names may be the run itself.
    if (!taken_from.empty() && taken_from != own) found.insert(found.begin(), taken_from);
    if (found.size() > TwinRuns::kMostTwins) found.resize(TwinRuns::kMostTwins);
    return {found.begin(), found.end()};
}

const std::vector<TwinRun>& TwinRuns::runs() const {
    static const Runs none;
    return shown_ ? *shown_ : none;
}

const NumberColumn* loss_column(const TaskTraits& task, const Curves& curves, std::string* unit) {
    for (const std::string& name : {task.loss_key(), std::string("loss")}) {
        const auto found = curves.columns.find(name);
        if (found == curves.columns.end() || found->second.empty()) continue;
        if (unit != nullptr && name == "loss") *unit = "nats";
        return &found->second;
    }
    return nullptr;
}

void TwinRuns::update(PaneContext& ui) {
    const std::string& path = ui.status.path;
    if (path != path_ || ui.status.rewinds != rewinds_) {
        path_ = path;
        rewinds_ = ui.status.rewinds;
        shown_.reset();
        is_asked_ = false;
    }
    if (work_.is_busy()) ui.want_frame_at(ui.time + 0.1);  // a resting window draws what has come
    const auto newest = work_.latest();
    if (newest && newest->of == path_ && newest->rewinds == rewinds_)
        shown_ = std::shared_ptr<const Runs>(newest, &newest->runs);
    if (path.empty() || is_asked_ || work_.is_busy()) return;
    is_asked_ = true;
    work_.start([path, rewinds = rewinds_, task = ui.status.task](const auto& publish,
                                                                  const std::stop_token& stop) {
        Answer answer{path, rewinds, {}};
        for (const std::string& folder : twin_folders(path)) {
            if (stop.stop_requested()) return;
            TwinRun twin{folder, fs::path(folder).filename().string(), {}, {}};
            // One that cannot be read is left out: Compare says why.
            static_cast<void>(error_words([&] {
                const Curves curves = stored_model(folder).curves;
                twin.step = curves.step;
                if (const NumberColumn* const loss = loss_column(task, curves)) twin.loss = *loss;
            }));
            if (!twin.loss.empty()) answer.runs.push_back(std::move(twin));
        }
        publish(std::move(answer));
    });
}

}  // namespace aft::app
