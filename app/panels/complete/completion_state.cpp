#include "app/panels/complete/completion_state.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <numbers>
#include <span>

#include "app/panels/complete/batch_run.h"
#include "app/panels/shared/completion_inputs.h"
#include "app/panels/shared/model_state.h"
#include "app/panels/shared/watch_over_training.h"
#include "app/panels/shared/whole_step.h"
#include "core/rng.h"

namespace aft::app {
namespace {

int64_t masked_pixels(const CompletionChoice& choice) {
    const auto mask = choice.mask.mask();
    return std::count(mask.begin(), mask.end(), uint8_t{1});
}

// A request that continues from what the completion already holds.
CompletionRequest continuation_of(const ViewState& ui,
                                  const std::shared_ptr<const Completion>& completion) {
    CompletionRequest request;
    request.tokens = completion->samples.front();
    request.unknown = completion->unknown;
    request.continued = completion;
    request.sample = ui.selection.completion.used;
    request.step = ui.selection.step < 0 ? -1 : whole_step(ui);
    return request;
}

}  // namespace

bool is_of_data(const ViewState& ui) {
    const ImageChoice& image = ui.selection.image;
    return image.item && image.path.empty() && !image.split.empty() && !image.item->split.empty();
}

CompletionChoice& completion_choice(ViewState& ui) {
    CompletionChoice& choice = ui.selection.completion;
    const ModelConfig& model = ui.status.config.model;
    if (!is_text_model(ui) && (choice.height != model.height || choice.width != model.width)) {
        choice.height = model.height;
        choice.width = model.width;
        viz::MaskCanvas first(model.height, model.width);
        first.apply(viz::MaskPreset::lower_half);
        choice.mask = viz::MaskCanvas(model.height, model.width,
                                      {first.mask().begin(), first.mask().end()});  // no stroke yet
        choice.chosen = 0;
        choice.position = choice.level = -1;
    }
    return choice;
}

std::string earlier_words(const ViewState& ui, const Completion& completion) {
    if (is_text_model(ui) || completion.samples.empty()) return "";
    const auto& item = ui.selection.image.item;
    const std::vector<uint8_t>& sample = completion.samples.front();
    const std::vector<uint8_t>& unknown = completion.unknown;
    const std::span<const uint8_t> mask = ui.selection.completion.mask.mask();
    const auto channels = size_t(std::max<int64_t>(1, ui.status.config.model.channels));
    if (!item || item->tokens.size() != unknown.size() || sample.size() != unknown.size())
        return item ? "of the picture before" : "";
    for (size_t i = 0; i < std::min(unknown.size(), size_t(completion.position)); ++i)
        if (unknown[i] == 0 && sample[i] != item->tokens[i]) return "of the picture before";
    for (size_t i = 0; i < unknown.size() && mask.size() * channels == unknown.size(); ++i)
        if (mask[i / channels] != unknown[i]) return "with the mask before";
    return "";
}

std::string why_not_complete(const ViewState& ui) {
    if (ui.session == nullptr || !ui.has_model()) return "No model is open.";
    if (ui.status.task.is_bias_alone)
        return "This file holds position biases alone: completing needs a whole model.";
    if (ui.status.task.is_mixer_alone) return "This model is a mixer alone: it cannot complete.";
    if (!ui.status.task.is_autoregressive)
        return "This model classifies pictures: it cannot complete.";
    const CompletionChoice& choice = ui.selection.completion;
    if (is_text_model(ui)) return prompt_problem(ui, choice.prompt);
    const ImageChoice& image = ui.selection.image;
    if (!image.item) return image.error.empty() ? "The picture is being read." : image.error + ".";
    if (static_cast<int64_t>(image.item->tokens.size()) != ui.status.tokens)
        return "The picture has another size than the model.";
    if (masked_pixels(choice) == 0) return "Nothing is masked: paint what is to be filled in.";
    return is_batch_asked(ui) ? why_no_batch(ui) : "";
}

std::string why_not_continue(const ViewState& ui) {
    const CompletionBatch& batch = ui.selection.completion.batch;
    if (is_completing(ui)) return "It is still filling in.";
    if (has_unfinished(batch)) return "";
    const auto completion = completion_of(ui);
    if (!completion || completion->samples.empty()) return "There is no completion yet.";
    if (!completion->done) return "It is still filling in.";
    return completion->stopped ? "" : "It is complete: nothing is left to fill in.";
}

std::string why_not_continue_here(const ViewState& ui) {
    const auto completion = completion_of(ui);
    if (!completion || completion->samples.empty()) return "There is no completion yet.";
    if (is_completing(ui)) return "It is still filling in: stop it first.";
    if (position_looked_at(ui, *completion) >= 0) return "";
    return is_text_model(ui) ? "Choose a byte that was added first."
                             : "Choose a filled sub-pixel first.";
}

void new_seed(CompletionChoice& choice) {
    choice.sample.seed = philox(choice.sample.seed, 0x73656564, 0)[0] % 100000;
}

void start_completion(PaneContext& ui) {
    CompletionChoice& choice = completion_choice(ui);
    if (!choice.seed_locked && completion_of(ui)) {
        new_seed(choice);
        if (Undoable* const seen = ui.selection.changes.seen())  // no change of the user's
            seen->sampling.options.seed = choice.sample.seed;
    }
    if (is_batch_asked(ui)) return start_batch(ui);
    choice.batch = {};
    CompletionRequest request;
    if (is_text_model(ui))
        fill_from_prompt(ui, choice.prompt, choice.length, request);
    else
        fill_from_picture(ui, ui.selection.image.item->tokens, choice.mask.mask(), request);
    request.sample = choice.sample;
    request.step = ui.selection.step < 0 ? -1 : whole_step(ui);
    choice.used = choice.sample;
    forget_marks(choice);
    choice.chosen = std::min(choice.chosen, choice.sample.samples - 1);
    choice.position = choice.level = -1;
    ui.commands.send(StartCompletion{CompletionOwner::complete, std::move(request)});
}

namespace {

bool is_all_masked(const CompletionChoice& choice) {
    const auto mask = choice.mask.mask();
    return masked_pixels(choice) == int64_t(mask.size());
}

bool is_blank(const ImageChoice& image) {
    const std::vector<uint8_t>& tokens = image.item->tokens;
    return std::all_of(tokens.begin(), tokens.end(), [](uint8_t level) { return level == 0; });
}

}  // namespace

WatchedCompletion watched_of(const ViewState& ui) {
    const CompletionChoice& choice = ui.selection.completion;
    const SampleOptions& sample = choice.sample;
    WatchedCompletion one{.temperature = sample.temperature,
                          .top_p = sample.top_p,
                          .top_k = sample.top_k,
                          .particles = sample.particles,
                          .seed = sample.seed};
    if (is_text_model(ui)) {
        one.prompt = choice.prompt;
        one.length = choice.length;
        one.name = "Text from the prompt";
        return one;
    }
    const auto mask = choice.mask.mask();
    one.height = choice.height;
    one.width = choice.width;
    one.mask.assign(mask.begin(), mask.end());
    one.name = "Free picture";
    if (is_all_masked(choice)) return one;
    const ImageChoice& image = ui.selection.image;
    if (!image.path.empty()) {
        std::error_code ignored;
        one.path = std::filesystem::absolute(image.path, ignored).lexically_normal().string();
    } else if (is_of_data(ui)) {
        one.split = image.split;
        one.index = image.index;
    }
    one.name = "Completion of " + image.item->caption;
    return one;
}

std::string why_not_watched(const ViewState& ui) {
    if (std::string why = why_not_complete(ui); !why.empty()) return why;
    const ImageChoice& image = ui.selection.image;
    if (!is_text_model(ui) && image.path.empty() && !is_all_masked(ui.selection.completion) &&
        !is_of_data(ui) && !is_blank(image))
        return "This picture is of no file and not of the data: take another one, or mask all of "
               "it.";
    return why_not_watch(ui, watched_of(ui));
}

void continue_completion(PaneContext& ui) {
    if (has_unfinished(ui.selection.completion.batch)) return continue_batch(ui);
    const auto completion = completion_of(ui);
    CompletionRequest request = continuation_of(ui, completion);
    request.from_position = completion->position;
    request.from_sample = -1;
    ui.commands.send(StartCompletion{CompletionOwner::complete, std::move(request)});
}

void continue_from_position(PaneContext& ui) {
    const auto completion = completion_of(ui);
    CompletionChoice& choice = completion_choice(ui);
    CompletionRequest request = continuation_of(ui, completion);
    request.from_position = position_looked_at(ui, *completion);
    request.from_sample = static_cast<int64_t>(sample_looked_at(ui, *completion));
    request.forced = choice.level;
    const int changes = choice.changed.count + 1;
    forget_marks(choice);
    choice.changed = {changes, request.from_sample, request.from_position, request.forced,
                      completion};
    choice.position = request.from_position;
    choice.level = -1;
    ui.commands.send(StartCompletion{CompletionOwner::complete, std::move(request)});
}

int64_t position_looked_at(const ViewState& ui, const Completion& completion) {
    const int64_t chosen = ui.selection.completion.position;
    const auto is_decided = [&](int64_t i) {
        return i >= 0 && i < completion.position &&
               i < static_cast<int64_t>(completion.unknown.size()) &&
               completion.unknown[static_cast<size_t>(i)] != 0;
    };
    if (is_decided(chosen)) return chosen;
    int64_t last =
        std::min<int64_t>(completion.position, static_cast<int64_t>(completion.unknown.size())) - 1;
    while (last >= 0 && !is_decided(last)) --last;
    return last;
}

void look_at_pixel(CompletionChoice& choice, int64_t sample, int64_t pixel, int64_t channels) {
    int64_t channel = 0;
    if (choice.position >= 0 && choice.position / channels == pixel)
        channel = (choice.position % channels + (choice.chosen == sample ? 1 : 0)) % channels;
    choice.chosen = sample;
    choice.position = pixel * channels + channel;
    choice.level = -1;
}

size_t sample_looked_at(const ViewState& ui, const Completion& completion) {
    const int64_t last = static_cast<int64_t>(completion.samples.size()) - 1;
    return static_cast<size_t>(std::clamp<int64_t>(ui.selection.completion.chosen, 0, last));
}

}  // namespace aft::app
