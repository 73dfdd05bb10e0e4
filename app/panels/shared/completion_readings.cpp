#include "app/panels/shared/completion_readings.h"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <numbers>
#include <span>

#include "app/panels/shared/model_state.h"
#include "app/widgets/states.h"
#include "core/rng.h"

namespace aft::app {

bool is_text_model(const ModelView& ui) {
    return ui.status.task.is_text();
}

std::shared_ptr<const Completion> completion_of(const ViewState& ui) {
    if (ui.session == nullptr || !ui.has_model()) return nullptr;
    const auto& completion = ui.selection.completion.own;
    const bool usable = completion && !completion->samples.empty();
    return usable || (completion && !completion->error.empty()) ? completion : nullptr;
}

bool is_completion_awaited(const ViewState& ui) {
    const CompletionChoice& choice = ui.selection.completion;
    if (ui.session == nullptr || choice.own_id == 0) return false;
    return (!choice.own || choice.own->id != choice.own_id) &&
           ui.session->completions().is_busy(choice.own_id);
}

bool is_completing(const ViewState& ui) {
    if (ui.selection.completion.batch.is_running) return true;
    if (is_completion_awaited(ui)) return true;
    const auto& completion = ui.selection.completion.own;
    return completion && !completion->done && completion->error.empty();
}

double rest_after(const ViewState& ui, const Completion& completion) {
    if (ui.status.state != RunState::running) return 0;
    const double share = ui.settings.trainer_share;
    return completion.seconds * std::clamp(share / std::max(0.05, 1 - share), 1.0, 19.0);
}

std::string classifier_words(const ModelView& ui) {
    const std::string none = "It gives a label and cannot fill in what is masked. ";
    if (ui.status.mixer.has_bias())
        return none + (ui.status.mixer.has_kernel() ? "Its kernels" : "Its position biases") +
               " are in the Biases workspace, its keys in Attention.";
    if (!ui.status.mixer.has_prior())
        return none + "What its heads attend to is in the Attention workspace.";
    return none + "Its keys and attention are in the Attention workspace.";
}

FilledPositions filled_positions(const Completion& completion) {
    FilledPositions filled;
    for (size_t i = 0; i < completion.unknown.size(); ++i) {
        if (completion.unknown[i] == 0) continue;
        filled.at.push_back(static_cast<int64_t>(i));
        if (static_cast<int64_t>(i) < completion.position) ++filled.decided;
    }
    return filled;
}

std::vector<uint8_t> pixel_mask(const ModelConfig& model, const std::vector<uint8_t>& unknown) {
    std::vector<uint8_t> mask(static_cast<size_t>(model.height * model.width));
    for (size_t i = 0; i < mask.size(); ++i)
        mask[i] = unknown[i * static_cast<size_t>(model.channels)];
    return mask;
}

double sample_bits(const Completion& completion, size_t sample) {
    const size_t decided = filled_positions(completion).decided;
    if (decided == 0 || sample >= completion.log_likelihood.size()) return std::nan("");
    return -completion.log_likelihood[sample] / std::numbers::ln2 / static_cast<double>(decided);
}

namespace {

uint8_t byte_of(const ModelView& ui, uint8_t token) {
    const std::vector<uint8_t>& alphabet = ui.status.alphabet;
    if (alphabet.empty()) return token;
    return token < alphabet.size() ? alphabet[token] : uint8_t{0};
}

}  // namespace

std::vector<uint8_t> shown_bytes(const ModelView& ui, const std::vector<uint8_t>& tokens,
                                 size_t count) {
    std::vector<uint8_t> bytes;
    for (size_t i = 0; i < std::min(count, tokens.size()); ++i)
        bytes.push_back(byte_of(ui, tokens[i]));
    return bytes;
}

std::string shown_text(const ModelView& ui, const std::vector<uint8_t>& tokens, size_t first,
                       size_t last) {
    std::string text;
    for (size_t i = first; i < std::min(last, tokens.size()); ++i) {
        const uint8_t byte = byte_of(ui, tokens[i]);
        const bool plain = (byte >= 32 && byte < 127) || byte == '\n';
        text += plain ? std::string(1, static_cast<char>(byte)) : std::string("\u00B7");
    }
    return text;
}

bool completion_state(Ui& ui) {
    if (no_model_state(ui, Drawing::picture,
                       "Open a checkpoint or a run to complete masked pictures or a prompt."))
        return true;
    if (mixer_alone_state(ui, Drawing::picture)) return true;
    if (ui.status.task.is_autoregressive) return false;
    empty_state(ui, {.drawing = Drawing::picture,
                     .title = "This model classifies pictures",
                     .sentence = classifier_words(ui),
                     .primary = "file.open",
                     .secondary = "file.open_demo",
                     .hint = {},
                     .secondary_words = "Try the demo"});
    return true;
}

}  // namespace aft::app
