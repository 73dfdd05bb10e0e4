#include "app/panels/complete/sample_marks.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <memory>

#include "app/panels/complete/completion_state.h"
#include "app/panels/shared/model_state.h"
#include "app/widgets/buttons.h"

namespace aft::app {
namespace {

constexpr float kToolPitch = 28;
constexpr const char* kSampleTools[] = {"complete.batch", "complete.star", "complete.discard",
                                        "complete.bring_back", "complete.use_as_source"};

std::string why_no_samples(const ViewState& ui) {
    if (ui.workspace != Workspace::complete) return "The samples are in the Complete workspace.";
    const auto completion = completion_of(ui);
    return completion && !completion->samples.empty() ? "" : "There is no completion yet.";
}

int64_t chosen_of(const ViewState& ui) {
    return static_cast<int64_t>(sample_looked_at(ui, *completion_of(ui)));
}

void star(ViewState& ui) {
    CompletionChoice& choice = ui.selection.completion;
    const int64_t sample = chosen_of(ui);
    if (choice.starred.erase(sample) == 0) choice.starred.insert(sample);
}

std::string why_not_discard(const ViewState& ui) {
    if (std::string why = why_no_samples(ui); !why.empty()) return why;
    const size_t count = completion_of(ui)->samples.size();
    return shown_samples(ui.selection.completion, count).size() > 1
               ? ""
               : "It is the only sample that is shown.";
}

// The one after it in the order of the screen is looked at next.
void discard(ViewState& ui) {
    CompletionChoice& choice = ui.selection.completion;
    const int64_t sample = chosen_of(ui);
    const size_t count = completion_of(ui)->samples.size();
    std::vector<size_t> shown = shown_samples(choice, count);
    const auto at = std::find(shown.begin(), shown.end(), static_cast<size_t>(sample));
    choice.starred.erase(sample);
    choice.discarded.insert(sample);
    if (at == shown.end()) return;
    const auto next = shown.erase(at);
    choice.chosen = static_cast<int64_t>(next == shown.end() ? shown.back() : *next);
    choice.level = -1;
}

std::string why_not_source(const ViewState& ui) {
    if (std::string why = why_no_samples(ui); !why.empty()) return why;
    if (is_text_model(ui)) return "Only pictures have a source: Play continues a text from a byte.";
    return why_no_picture(ui);
}

}  // namespace

std::vector<size_t> shown_samples(const MarkedSamples& marks, size_t count) {
    std::vector<size_t> out;
    for (const bool is_starred : {true, false})
        for (size_t i = 0; i < count; ++i) {
            const auto sample = static_cast<int64_t>(i);
            if (!marks.discarded.contains(sample) && marks.starred.contains(sample) == is_starred)
                out.push_back(i);
        }
    return out;
}

std::string marks_words(const MarkedSamples& marks) {
    std::string words;
    if (!marks.starred.empty()) words += fmt::format(", {} starred", marks.starred.size());
    if (!marks.discarded.empty()) words += fmt::format(", {} discarded", marks.discarded.size());
    return words;
}

std::string why_no_picture(const ViewState& ui) {
    const auto completion = completion_of(ui);
    if (!completion || completion->samples.empty()) return "There is no completion yet.";
    if (!completion->done) return "It is still filling in: stop it first.";
    return int64_t(completion->samples.front().size()) >= ui.status.tokens
               ? ""
               : fmt::format(
                     "This text is shorter than the {} tokens that the model reads: "
                     "complete more of it.",
                     ui.status.tokens);
}

int64_t take_sample_as_input(ViewState& ui, const Completion& completion, int64_t position) {
    const size_t sample = sample_looked_at(ui, completion);
    const auto& tokens = completion.samples.at(sample);
    const int64_t spare = int64_t(tokens.size()) - ui.status.tokens;
    const int64_t first = std::clamp<int64_t>(position + 1 - ui.status.tokens, 0, spare);
    auto item = std::make_shared<DataItem>();
    item->tokens.assign(tokens.begin() + first, tokens.begin() + first + ui.status.tokens);
    item->caption = fmt::format("sample {}", sample + 1);
    if (spare > 0) item->caption += fmt::format(", {} to {}", first, first + ui.status.tokens - 1);
    ui.selection.image = {.split = {}, .index = 0, .path = {}, .item = std::move(item)};
    return position - first;
}

float sample_tools_width(const DrawContext& ui) {
    return ui.px(kToolPitch) * float(std::size(kSampleTools));
}

void draw_sample_tools(Ui& ui) {
    for (const char* const id : kSampleTools) {
        (void)action_button(ui, id, ButtonKind::icon);
        ImGui::SameLine(0, ui.px(2));
    }
}

void add_sample_actions(Actions& actions) {
    actions.add({.id = "complete.star",
                 .name = "Star sample",
                 .sentence = "Puts the sample that is looked at before the others, or back. Marks "
                             "last until the next completion.",
                 .icon = icon::star_outline,
                 .why_not = why_no_samples,
                 .run = star,
                 .is_on = [](const ViewState& ui) {
                     return why_no_samples(ui).empty() &&
                            ui.selection.completion.starred.contains(chosen_of(ui));
                 }});
    actions.add(
        {.id = "complete.discard",
         .name = "Discard sample",
         .sentence = "Hides the sample that is looked at; the numbers over all samples keep it.",
         .icon = icon::trash,
         .why_not = why_not_discard,
         .run = discard});
    actions.add({.id = "complete.bring_back",
                 .name = "Bring discarded samples back",
                 .sentence = "Shows all samples again.",
                 .icon = icon::undo,
                 .why_not =
                     [](const ViewState& ui) {
                         return ui.selection.completion.discarded.empty()
                                    ? "No sample is discarded."
                                    : why_no_samples(ui);
                     },
                 .run = [](ViewState& ui) { ui.selection.completion.discarded.clear(); }});
    actions.add(
        {.id = "complete.use_as_source",
         .name = "Use sample as source",
         .sentence = "The sample that is looked at becomes the picture to complete; the "
                     "mask stays.",
         .icon = icon::picture,
         .why_not = why_not_source,
         .run = [](ViewState& ui) { (void)take_sample_as_input(ui, *completion_of(ui), 0); }});
}

}  // namespace aft::app
