#include "app/state/completion_batch.h"

#include <fmt/format.h>

#include "app/state/ui.h"

namespace aft::app {

namespace {

using LatestCompletion = std::shared_ptr<const Completion>;

// A few at a time: probes of the same thread wait for them.
void read_pictures(CompletionBatch& batch, const Session& session) {
    constexpr int kMostAsked = 8;
    int asked = 0;
    for (BatchPicture& one : batch.pictures) {
        if (one.item || !one.error.empty()) continue;
        if (asked == kMostAsked) return;
        ItemError problem;
        one.item = session.items().example(batch.split, one.index, &problem);
        one.error = problem.words;
        if (!one.item && one.error.empty()) ++asked;
        if (!one.item) continue;
        if (one.index >= one.item->part_size && one.item->part_size > 0)
            one.error = fmt::format("the {} part has the examples 0 to {}", batch.split,
                                    one.item->part_size - 1);
        else if (one.item->tokens.size() != batch.unknown.size())
            one.error = "it has another size than the model's pictures";
        if (!one.error.empty()) one.item = nullptr;
    }
}

// From where it was stopped.
CompletionRequest request_of(const CompletionBatch& batch, const BatchPicture& picture) {
    CompletionRequest request;
    request.tokens = picture.item->tokens;
    request.unknown = batch.unknown;
    request.sample = batch.sample;
    request.step = batch.step;
    const std::shared_ptr<const Completion>& old = picture.completion;
    if (old && old->stopped && old->position < old->total) {
        request.continued = old;
        request.from_position = old->position;
        request.from_sample = -1;
    }
    return request;
}

// Its id is there one frame after it was asked for.
void take_asked(CompletionChoice& choice) {
    CompletionBatch& batch = choice.batch;
    if (batch.asked < 0 || batch.asked_id == 0) return;
    batch.pictures[size_t(batch.asked)].id = batch.asked_id;
    if (size_t(batch.asked) == batch.looked_at) choice.own_id = batch.asked_id;
    batch.asked = -1;
}

void ask_for_next(PaneContext& ui, const LatestCompletion& latest) {
    CompletionBatch& batch = ui.selection.completion.batch;
    const bool is_busy = ui.session->completions().is_busy();
    bool was_own = false;  // of this batch is what the worker has just ended
    for (size_t i = 0; i < batch.pictures.size(); ++i) {
        BatchPicture& one = batch.pictures[i];
        const bool is_newest = latest && latest->id == one.id;
        was_own |= is_newest && latest->done;
        if (is_finished(one)) continue;
        if (is_newest && !latest->done) return;                           // it fills in
        if (!one.item) return;                                            // it is being read
        if (is_busy && one.id > (latest ? latest->id : 0)) return;        // it is the next one
        if (is_busy && !was_own) return ui.want_frame_at(ui.time + 0.1);  // after another one
        batch.asked = int64_t(i);
        batch.asked_id = 0;
        ui.commands.send(StartCompletion{CompletionOwner::batch, request_of(batch, one)});
        return;
    }
    batch.is_running = false;
}

}  // namespace

bool is_finished(const BatchPicture& picture) {
    if (!picture.error.empty()) return true;
    return picture.completion && picture.completion->done && !picture.completion->stopped;
}

void take_completions(PaneContext& ui) {
    CompletionChoice& choice = ui.selection.completion;
    CompletionBatch& batch = choice.batch;
    take_asked(choice);
    const LatestCompletion latest = ui.session->completions().latest();
    if (latest && latest->id == choice.own_id) choice.own = latest;
    if (batch.is_empty()) return;
    batch.pictures[batch.looked_at].id = choice.own_id;  // it may have been continued alone
    for (BatchPicture& one : batch.pictures) {
        if (!latest || latest->id != one.id) continue;
        one.completion = latest;
        if (latest->done) one.error = latest->error;
    }
    read_pictures(batch, *ui.session);
    if (batch.is_running && batch.asked < 0) ask_for_next(ui, latest);
}

void forget_completions(CompletionChoice& choice) {
    choice.own_id = 0;
    choice.own = nullptr;
    choice.batch = {};
    forget_marks(choice);
}

}  // namespace aft::app
