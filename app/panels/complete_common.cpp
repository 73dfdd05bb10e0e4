#include "app/panels/complete_common.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/check.h"
#include "core/rng.h"
#include "core/text.h"

namespace aft::app {

bool is_text(const Ui& ui) {
    return ui.status.config.model.task == "text";
}

bool can_complete(const Ui& ui) {
    return ui.session != nullptr && ui.has_model() && ui.status.config.model.task != "classify";
}

Shape shape_of(const Ui& ui) {
    const ModelConfig& model = ui.status.config.model;
    if (is_text(ui)) return {1, model.length, 1, model.levels};
    return {model.height, model.width, model.channels, model.levels};
}

void prepare(Ui& ui) {
    CompletionChoice& choice = ui.selection.completion;
    ImageChoice& image = ui.selection.image;
    const Shape shape = shape_of(ui);
    if (!is_text(ui) && (choice.height != shape.height || choice.width != shape.width)) {
        choice.mask = viz::MaskCanvas(shape.height, shape.width);
        choice.mask.apply(viz::MaskPreset::lower_half);
        choice.height = shape.height;
        choice.width = shape.width;
        choice.position = -1;
    }
    if (is_text(ui)) return;
    const auto item = image.path.empty() ? ui.session->data_item(image.split, image.index)
                                         : ui.session->image_item(image.path);
    if (item) image.item = item;
}

std::span<const uint8_t> picture(const Ui& ui) {
    const auto& item = ui.selection.image.item;
    if (!item || static_cast<int64_t>(item->tokens.size()) != shape_of(ui).tokens()) return {};
    return item->tokens;
}

std::vector<uint8_t> unknown_tokens(const Ui& ui) {
    const Shape shape = shape_of(ui);
    const auto mask = ui.selection.completion.mask.mask();
    std::vector<uint8_t> unknown(static_cast<size_t>(shape.tokens()));
    for (size_t i = 0; i < unknown.size(); ++i)
        unknown[i] = mask[i / static_cast<size_t>(shape.channels)];
    return unknown;
}

std::string why_not_complete(const Ui& ui) {
    if (ui.session == nullptr || !ui.has_model()) return "no model is open";
    if (!can_complete(ui)) return "a classifier has nothing to complete";
    if (is_text(ui)) return {};
    if (picture(ui).empty()) return "no picture yet";
    const auto mask = ui.selection.completion.mask.mask();
    if (std::none_of(mask.begin(), mask.end(), [](uint8_t m) { return m != 0; }))
        return "the mask is empty: paint what is to be filled";
    return {};
}

namespace {

void fill_text_request(const Ui& ui, CompletionRequest& request) {
    const CompletionChoice& choice = ui.selection.completion;
    const auto& alphabet = ui.status.alphabet;
    const int64_t T = ui.status.tokens;
    std::vector<uint8_t> prompt;
    for (const char c : choice.prompt) {
        const auto byte = static_cast<uint8_t>(c);
        const auto at = std::find(alphabet.begin(), alphabet.end(), byte);
        if (alphabet.empty())
            prompt.push_back(byte);
        else if (at != alphabet.end())
            prompt.push_back(static_cast<uint8_t>(at - alphabet.begin()));
    }
    if (static_cast<int64_t>(prompt.size()) > T - 1)
        prompt.erase(prompt.begin(), prompt.end() - (T - 1));
    const auto length = std::min<int64_t>(T, static_cast<int64_t>(prompt.size()) + choice.length);
    request.tokens = prompt;
    request.tokens.resize(static_cast<size_t>(length), 0);
    request.unknown.assign(static_cast<size_t>(length), 1);
    std::fill_n(request.unknown.begin(), prompt.size(), uint8_t{0});
}

CompletionRequest request_of(Ui& ui) {
    CompletionRequest request;
    request.sample = ui.selection.completion.sample;
    request.step = ui.selection.step;
    if (is_text(ui)) {
        fill_text_request(ui, request);
    } else {
        const auto known = picture(ui);
        request.tokens.assign(known.begin(), known.end());
        request.unknown = unknown_tokens(ui);
    }
    return request;
}

}  // namespace

void start_completion(Ui& ui) {
    CompletionChoice& choice = ui.selection.completion;
    if (!why_not_complete(ui).empty()) return;
    if (!choice.seed_locked) choice.sample.seed = philox(choice.sample.seed, 1, 0)[0] % 100000;
    choice.position = -1;
    choice.level = -1;
    choice.chosen = 0;
    ui.session->complete(request_of(ui));
}

void continue_from_here(Ui& ui) {
    CompletionChoice& choice = ui.selection.completion;
    const auto done = ui.session ? ui.session->completion() : nullptr;
    if (!done || done->samples.empty()) return;
    CompletionRequest request = request_of(ui);
    request.from_position = play_position(ui, *done);
    request.from_sample = choice.chosen;
    request.forced = choice.level;
    request.unknown = done->unknown;
    request.tokens.resize(done->unknown.size(), 0);
    choice.level = -1;
    ui.session->complete(std::move(request));
}

bool is_running(const Completion* completion) {
    return completion != nullptr && !completion->done && !completion->stopped &&
           completion->error.empty();
}

int64_t play_position(const Ui& ui, const Completion& completion) {
    int64_t position = ui.selection.completion.position;
    if (position < 0) {
        position = std::max<int64_t>(completion.position - 1, 0);
        while (position > 0 && !completion.unknown[static_cast<size_t>(position)]) --position;
    }
    return std::clamp<int64_t>(position, 0, static_cast<int64_t>(completion.unknown.size()) - 1);
}

double bits_per_dim(const Completion& completion, size_t sample) {
    int64_t filled = 0;
    const auto end = static_cast<size_t>(
        std::min<int64_t>(completion.position, static_cast<int64_t>(completion.unknown.size())));
    for (size_t i = 0; i < end; ++i) filled += completion.unknown[i] != 0;
    if (filled == 0 || sample >= completion.log_likelihood.size())
        return std::numeric_limits<double>::quiet_NaN();
    return -completion.log_likelihood[sample] / std::log(2.0) / static_cast<double>(filled);
}

std::string position_words(const Ui& ui, int64_t position) {
    if (is_text(ui)) return "byte " + group_thousands(position);
    const Shape shape = shape_of(ui);
    const int64_t pixel = position / shape.channels, channel = position % shape.channels;
    std::string words = fmt::format("y {}, x {}", pixel / shape.width, pixel % shape.width);
    if (shape.channels == 3) words += fmt::format(", {}", "RGB"[channel]);
    return words;
}

std::string token_text(const Ui& ui, std::span<const uint8_t> tokens) {
    const auto& alphabet = ui.status.alphabet;
    std::string words;
    for (const uint8_t token : tokens) {
        const uint8_t byte = alphabet.empty()          ? token
                             : token < alphabet.size() ? alphabet[token]
                                                       : uint8_t{'?'};
        const bool shown = byte == '\n' || (byte >= 32 && byte < 127);
        words += shown ? static_cast<char>(byte) : '.';
    }
    return words;
}

viz::TokenImage token_image(const Ui& ui, std::span<const uint8_t> tokens) {
    const Shape shape = shape_of(ui);
    return {.tokens = tokens,
            .height = shape.height,
            .width = shape.width,
            .channels = shape.channels,
            .levels = shape.levels,
            .unknown = {}};
}

}  // namespace aft::app
