#include "app/panels/train/completion_series.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "app/panels/shared/completion_inputs.h"
#include "app/panels/shared/completion_readings.h"

namespace aft::app {

bool CompletionSeries::is_of(const PaneContext& ui, const WatchedCompletion& watched) const {
    return source_ == series_source(ui) && watched_.measures_as(watched);
}

// Until it is there, or it is known why it cannot be.
void CompletionSeries::read_source(const PaneContext& ui) {
    const ModelConfig& model = ui.status.config.model;
    error_.clear();
    if (watched_.mask.empty() != is_text_model(ui)) {
        error_ = watched_.mask.empty() ? "A prompt is for a model of text"
                                       : "A picture is for a model of pictures";
    } else if (watched_.mask.empty()) {
        error_ = prompt_problem(ui, watched_.prompt);
        if (error_.empty()) fill_from_prompt(ui, watched_.prompt, watched_.length, request_);
    } else if (watched_.height != model.height || watched_.width != model.width) {
        error_ = fmt::format("The mask is of {} x {} pixels, the model of {} x {}", watched_.height,
                             watched_.width, model.height, model.width);
    } else {
        std::vector<uint8_t> tokens(size_t(ui.status.tokens), 0);
        if (!watched_.path.empty() || !watched_.split.empty()) {
            ItemError problem;
            const auto item =
                watched_.path.empty()
                    ? ui.session->items().example(watched_.split, watched_.index, &problem)
                    : ui.session->items().picture(watched_.path, &problem);
            error_ = problem.words;
            if (!item) return;
            if (item->tokens.size() == tokens.size())
                tokens = item->tokens;
            else
                error_ = "The picture has another size than the model";
        }
        if (error_.empty()) fill_from_picture(ui, tokens, watched_.mask, request_);
    }
    request_.sample = {.samples = 1,
                       .top_k = watched_.top_k,
                       .particles = watched_.particles,
                       .temperature = watched_.temperature,
                       .top_p = watched_.top_p,
                       .seed = watched_.seed};
}

// What has come of the one that was asked for; where another has taken its place it is asked for
// again.
void CompletionSeries::take(const PaneContext& ui) {
    if (asked_ < 0) return;
    const auto now = ui.session->completions().latest();
    if (!now || now->id != ui.watched_completion) {
        const bool may_come = !now || now->id < ui.watched_completion;
        if (!may_come || !ui.session->completions().is_busy()) asked_ = -1;
        return;
    }
    if (!now->done) return;
    const int64_t step = std::exchange(asked_, -1);
    if (now->error.empty() && now->stopped) return;
    if (!now->error.empty() || now->step != step || now->samples.empty()) {
        failed_.insert(step);
        error_ = !now->error.empty()
                     ? now->error
                     : fmt::format("The weights of step {} are not there any more", step);
    } else {
        completions_[step] = now;
        error_.clear();
    }
    next_at_ = ui.time + rest_after(ui, *now);
}

// Nothing is asked for in a frame in which something else is: one completion takes another's place.
void CompletionSeries::ask(PaneContext& ui, int64_t step) {
    if (ui.session->completions().is_busy()) return;
    if (ui.commands.has_waiting()) return ui.want_frames(1);
    if (ui.status.state == RunState::running && ui.time < next_at_)
        return ui.want_frame_at(next_at_);
    request_.step = step;
    ui.commands.send(StartCompletion{CompletionOwner::watched, request_});
    asked_ = step;
}

bool CompletionSeries::update(PaneContext& ui, const WatchedCompletion& watched, bool may_ask) {
    if (!is_of(ui, watched)) {
        *this = CompletionSeries();
        source_ = series_source(ui);
        watched_ = watched;
    }
    if (ui.session == nullptr) return true;
    const std::vector<int64_t> saved = ui.session->saved_steps();
    const auto is_saved = [&](int64_t step) {
        return std::binary_search(saved.begin(), saved.end(), step);
    };
    std::erase_if(completions_, [&](const auto& one) { return !is_saved(one.first); });
    std::erase_if(failed_, [&](int64_t step) { return !is_saved(step); });
    missing_ = saved.size() - completions_.size() - failed_.size();
    if (request_.unknown.empty()) read_source(ui);
    if (request_.unknown.empty()) return !error_.empty();
    take(ui);
    for (const int64_t step : saved) {
        if (completions_.contains(step) || failed_.contains(step)) continue;
        if (may_ask && asked_ < 0) ask(ui, step);
        return false;
    }
    return true;
}

}  // namespace aft::app
