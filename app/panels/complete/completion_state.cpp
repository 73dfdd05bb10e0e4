#include "app/panels/complete/completion_state.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <span>

#include "app/panels/shared/model_state.h"
#include "core/rng.h"

namespace aft::app {
namespace {

// Token of a byte in the model's alphabet; -1 = not in it.
int token_of(const std::vector<uint8_t>& alphabet, uint8_t byte) {
    if (alphabet.empty()) return byte;
    const auto found = std::find(alphabet.begin(), alphabet.end(), byte);
    return found == alphabet.end() ? -1 : static_cast<int>(found - alphabet.begin());
}

int64_t masked_pixels(const CompletionChoice& choice) {
    const auto mask = choice.mask.mask();
    return std::count(mask.begin(), mask.end(), uint8_t{1});
}

void fill_from_prompt(const ViewState& ui, CompletionRequest& request) {
    const CompletionChoice& choice = ui.selection.completion;
    for (const char byte : choice.prompt)
        request.tokens.push_back(
            static_cast<uint8_t>(token_of(ui.status.alphabet, static_cast<uint8_t>(byte))));
    request.unknown.assign(request.tokens.size(), 0);
    const size_t total = request.tokens.size() + static_cast<size_t>(choice.length);
    request.tokens.resize(total, 0);
    request.unknown.resize(total, 1);
}

void fill_from_picture(const ViewState& ui, CompletionRequest& request) {
    request.tokens = ui.selection.image.item->tokens;
    const auto mask = ui.selection.completion.mask.mask();
    const auto channels = static_cast<size_t>(ui.status.config.model.channels);
    request.unknown.reserve(request.tokens.size());
    for (const uint8_t masked : mask)
        request.unknown.insert(request.unknown.end(), channels, masked);
}

// A request that continues from what the completion already holds.
CompletionRequest continuation_of(const ViewState& ui, const Completion& completion) {
    CompletionRequest request;
    request.tokens = completion.samples.front();
    request.unknown = completion.unknown;
    request.sample = ui.selection.completion.used;
    request.step = ui.selection.step;
    return request;
}

}  // namespace

CompletionChoice& completion_choice(ViewState& ui) {
    CompletionChoice& choice = ui.selection.completion;
    const ModelConfig& model = ui.status.config.model;
    if (!is_text_model(ui) && (choice.height != model.height || choice.width != model.width)) {
        choice.height = model.height;
        choice.width = model.width;
        choice.mask = viz::MaskCanvas(model.height, model.width);
        choice.mask.apply(viz::MaskPreset::lower_half);
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
    if (is_text_model(ui)) {
        for (const char c : choice.prompt)
            if (token_of(ui.status.alphabet, static_cast<uint8_t>(c)) < 0)
                return fmt::format("The prompt's byte {} is not in the alphabet of this model.",
                                   static_cast<uint8_t>(c));
        return "";
    }
    const ImageChoice& image = ui.selection.image;
    if (!image.item) return image.error.empty() ? "The picture is being read." : image.error + ".";
    if (static_cast<int64_t>(image.item->tokens.size()) != ui.status.tokens)
        return "The picture has another size than the model.";
    if (masked_pixels(choice) == 0) return "Nothing is masked: paint what is to be filled in.";
    return "";
}

namespace {

// The worker keeps one completion to continue from.
bool is_replaced(const ModelView& ui, const Completion& completion) {
    const auto newest = ui.session->completions().latest();
    return newest && newest->id != completion.id;
}

constexpr const char* kReplaced =
    "The completions beside the curves have taken its place: complete it again.";

}  // namespace

std::string why_not_continue(const ViewState& ui) {
    const auto completion = completion_of(ui);
    if (!completion || completion->samples.empty()) return "There is no completion yet.";
    if (!completion->done) return "It is still filling in.";
    if (completion->stopped && is_replaced(ui, *completion)) return kReplaced;
    return completion->stopped ? "" : "It is complete: nothing is left to fill in.";
}

std::string why_not_continue_here(const ViewState& ui) {
    const auto completion = completion_of(ui);
    if (!completion || completion->samples.empty()) return "There is no completion yet.";
    if (!completion->done) return "It is still filling in: stop it first.";
    if (is_replaced(ui, *completion)) return kReplaced;
    if (position_looked_at(ui, *completion) >= 0) return "";
    return is_text_model(ui) ? "Choose a byte that was added first."
                             : "Choose a filled sub-pixel first.";
}

void new_seed(CompletionChoice& choice) {
    choice.sample.seed = philox(choice.sample.seed, 0x73656564, 0)[0] % 100000;
}

void start_completion(PaneContext& ui) {
    CompletionChoice& choice = completion_choice(ui);
    if (!choice.seed_locked && completion_of(ui)) new_seed(choice);
    CompletionRequest request;
    is_text_model(ui) ? fill_from_prompt(ui, request) : fill_from_picture(ui, request);
    request.sample = choice.sample;
    request.step = ui.selection.step;
    choice.used = choice.sample;
    choice.chosen = std::min(choice.chosen, choice.sample.samples - 1);
    choice.position = choice.level = -1;
    ui.commands.send(StartCompletion{CompletionOwner::complete, std::move(request)});
}

void continue_completion(PaneContext& ui) {
    const auto completion = completion_of(ui);
    CompletionRequest request = continuation_of(ui, *completion);
    request.from_position = completion->position;
    request.from_sample = -1;
    ui.commands.send(StartCompletion{CompletionOwner::complete, std::move(request)});
}

void continue_from_position(PaneContext& ui) {
    const auto completion = completion_of(ui);
    CompletionChoice& choice = completion_choice(ui);
    CompletionRequest request = continuation_of(ui, *completion);
    request.from_position = position_looked_at(ui, *completion);
    request.from_sample = static_cast<int64_t>(sample_looked_at(ui, *completion));
    request.forced = choice.level;
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
