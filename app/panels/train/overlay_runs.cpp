#include "app/panels/train/overlay_runs.h"

#include <algorithm>
#include <set>
#include <utility>

#include "app/state/open_path.h"
#include "core/caught.h"
#include "model/jobs/summary.h"
#include "model/model_files.h"
#include "model/system.h"

namespace aft::app {
namespace {

constexpr size_t kValidation = 3;  // of Theme::series: the open run's

std::string unit_of(const Status& status) {
    return status.task.loss_in_bits ? status.metric_words : "nats";
}

// The run's own where no other curve has it, else one that is free; eight runs and the open one are
// more than there are: then a shade.
ImU32 free_color(const PaneContext& ui, const std::string& path, const std::set<ImU32>& taken) {
    constexpr float kShade = 0.5F;
    const ImU32 own = run_color(ui, path);
    if (!taken.contains(own)) return own;
    for (const ImU32 color : ui.theme.series)
        if (!taken.contains(color)) return color;
    for (const ImU32 color : ui.theme.series)
        if (const ImU32 shade = mix(ui.theme.text1, color, kShade); !taken.contains(shade))
            return shade;
    return ui.theme.text2;
}

}  // namespace

bool has_unit_of(const OverlayRun& run, const ModelView& ui) {
    return run.model && unit_of(run.model->status) == unit_of(ui.status);
}

OverlayRuns::ReadRun OverlayRuns::read(ReadRun run) {
    auto model = run.model ? std::make_shared<StoredModel>(*run.model) : nullptr;
    bool is_new = true;
    run.error = error_words(
        [&] {
            if (model)
                is_new = follow_log(*model);
            else
                model = std::make_shared<StoredModel>(stored_model(run.path));
        },
        plain_words);
    if (!run.error.empty())
        run.model = nullptr;
    else if (is_new)
        run.model = std::move(model);
    return run;
}

// What is known of a run that stays chosen stays.
void OverlayRuns::choose(const PaneContext& ui) {
    const bool is_same =
        std::equal(runs_.begin(), runs_.end(), ui.overlays.begin(), ui.overlays.end(),
                   [](const OverlayRun& run, const std::string& path) { return run.path == path; });
    if (!is_same) {
        std::vector<OverlayRun> before = std::exchange(runs_, {});
        for (const std::string& path : ui.overlays) {
            const auto known = std::find_if(before.begin(), before.end(),
                                            [&](const OverlayRun& r) { return r.path == path; });
            runs_.push_back(known != before.end() ? std::move(*known)
                                                  : OverlayRun{.path = path, .name = {}});
        }
        is_new_ = true;
    }
    // A run may be renamed, and another theme be chosen; to look for it in each frame is slow.
    const bool is_styled = theme_ == ui.theme.name && ui.time - styled_at_ < kBetweenLooks;
    if (is_same && is_styled && ui.time >= styled_at_) return;
    theme_ = ui.theme.name;
    styled_at_ = ui.time;
    std::set<ImU32> taken = {run_color(ui, ui.status.path), ui.theme.series[kValidation]};
    for (OverlayRun& run : runs_) {
        run.name = ui.settings.shown_name_of(run.path, shown_name(run.path));
        run.color = free_color(ui, run.path, taken);
        taken.insert(run.color);
    }
}

void OverlayRuns::look(const PaneContext& ui) {
    if (work_.is_busy() || runs_.empty()) return;
    if (!is_new_ && ui.time - looked_at_ < kBetweenLooks) return;
    is_new_ = false;
    looked_at_ = ui.time;
    ReadRuns known;
    for (const OverlayRun& run : runs_) known.push_back({run.path, {}, run.model});
    work_.start([known = std::move(known)](const auto& publish, const std::stop_token& stop) {
        ReadRuns done;
        for (const ReadRun& run : known) {
            if (stop.stop_requested()) return;
            done.push_back(read(run));
            publish(done);
        }
    });
}

void OverlayRuns::update(PaneContext& ui) {
    choose(ui);
    if (const auto newest = work_.latest())
        for (const ReadRun& one : *newest)
            for (OverlayRun& run : runs_)
                if (run.path == one.path) {
                    run.model = one.model;
                    run.error = one.error;
                }
    look(ui);
    for (OverlayRun& run : runs_) {
        if (!run.model) {
            run.series = {};
            continue;
        }
        if (run.series.refresh(run.model->curves, run.model->status.task.loss_in_bits))
            ui.want_frames(2);
    }
    if (work_.is_busy())
        ui.want_frame_at(ui.time + 0.05);
    else if (!runs_.empty())
        ui.want_frame_at(looked_at_ + kBetweenLooks);
}

std::string OverlayRuns::left_out(const ModelView& ui) const {
    std::string words;
    for (const OverlayRun& run : runs_) {
        std::string why = run.error;
        if (run.model && run.model->curves.step.empty())
            why = is_checkpoint_file(run.path) ? "a checkpoint carries no curves"
                                               : "it has logged nothing yet";
        else if (run.model && !has_unit_of(run, ui))
            why = "its loss is in " + unit_of(run.model->status);
        if (!why.empty()) words += (words.empty() ? "Left out: " : "; ") + run.name + ": " + why;
    }
    return words;
}

}  // namespace aft::app
