#include "app/panels/complete/batch_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "app/panels/complete/completion_state.h"
#include "app/panels/shared/completion_inputs.h"
#include "core/text.h"

namespace aft::app {
namespace {

constexpr double kMostBytes = 1 << 30;

// Of a value of a sample: itself, its surprise and its entropy; here and where it is drawn.
constexpr double kBytesOfValue = 2 * (1 + 4 + 4);

}  // namespace

bool is_batch_asked(const ViewState& ui) {
    return ui.selection.completion.pictures.size() > 1 && !is_text_model(ui) && is_of_data(ui);
}

std::string why_no_batch(const ViewState& ui) {
    const CompletionChoice& choice = ui.selection.completion;
    const double bytes = double(choice.pictures.size()) * double(choice.sample.samples) *
                         double(ui.status.tokens) * kBytesOfValue;
    if (bytes <= kMostBytes) return "";
    return fmt::format("{} pictures with {} samples each take {}, allowed: {}. Take fewer.",
                       choice.pictures.size(), choice.sample.samples, byte_size(bytes),
                       byte_size(kMostBytes));
}

void start_batch(ViewState& ui) {
    CompletionChoice& choice = completion_choice(ui);
    CompletionBatch batch;
    batch.split = ui.selection.image.split;
    CompletionRequest request;
    fill_from_picture(ui, {}, choice.mask.mask(), request);
    batch.unknown = std::move(request.unknown);
    batch.sample = choice.used = choice.sample;
    batch.step = ui.selection.step;
    for (const int64_t index : choice.pictures) batch.pictures.emplace_back().index = index;
    batch.is_running = true;
    choice.batch = std::move(batch);
    choice.own_id = 0;
    choice.own = nullptr;
    choice.chosen = std::min(choice.chosen, choice.sample.samples - 1);
    choice.position = choice.level = -1;
    forget_marks(choice);
    follow_source(ui);
    const CompletionBatch& begun = choice.batch;
    if (ui.selection.image.index != begun.pictures[begun.looked_at].index) look_at_picture(ui, 0);
}

bool has_unfinished(const CompletionBatch& batch) {
    return !std::all_of(batch.pictures.begin(), batch.pictures.end(), is_finished);
}

void continue_batch(ViewState& ui) {
    ui.selection.completion.batch.is_running = true;
}

bool is_batch_shown(const ViewState& ui) {
    const CompletionBatch& batch = ui.selection.completion.batch;
    return !batch.is_empty() && batch.is_shown && batch.unknown.size() == size_t(ui.status.tokens);
}

void look_at_picture(ViewState& ui, size_t picture) {
    CompletionChoice& choice = ui.selection.completion;
    CompletionBatch& batch = choice.batch;
    BatchPicture& next = batch.pictures[picture];
    ImageChoice& image = ui.selection.image;
    if (!image.path.empty() || image.split != batch.split || image.index != next.index ||
        image.item != next.item)
        image = {.split = batch.split, .index = next.index, .path = {}, .item = next.item};
    if (batch.looked_at == picture) return;
    batch.pictures[batch.looked_at].marks = choice;
    batch.looked_at = picture;
    static_cast<MarkedSamples&>(choice) = std::exchange(next.marks, {});
    choice.own_id = next.id;
    choice.own = next.completion;
    choice.position = choice.level = -1;
}

void follow_source(ViewState& ui) {
    CompletionBatch& batch = ui.selection.completion.batch;
    const ImageChoice& image = ui.selection.image;
    if (batch.is_empty() || !image.path.empty() || image.split != batch.split) return;
    if (batch.pictures[batch.looked_at].index == image.index) return;
    const auto found = std::find_if(batch.pictures.begin(), batch.pictures.end(),
                                    [&](const BatchPicture& p) { return p.index == image.index; });
    if (found == batch.pictures.end()) return;
    look_at_picture(ui, size_t(found - batch.pictures.begin()));
}

const MarkedSamples& marks_of(const CompletionChoice& choice, size_t picture) {
    return picture == choice.batch.looked_at ? static_cast<const MarkedSamples&>(choice)
                                             : choice.batch.pictures[picture].marks;
}

}  // namespace aft::app
