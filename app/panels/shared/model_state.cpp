#include "app/panels/shared/model_state.h"

namespace aft::app {

bool no_model_state(Ui& ui, Drawing drawing, const std::string& sentence) {
    if (ui.status.state == RunState::empty || ui.session == nullptr) {
        empty_state(ui, {.drawing = drawing,
                         .title = "No model open",
                         .sentence = sentence,
                         .primary = "file.open",
                         .secondary = "file.open_demo",
                         .hint = "You can also drop a .safetensors file or a run folder anywhere "
                                 "in this window.",
                         .secondary_words = "Try the demo"});
        return true;
    }
    if (ui.has_model()) return false;
    if (progress_line(ui, "Opening " + ui.status.name, -1, true)) ui.commands.send(CloseModel{});
    return true;
}

bool mixer_alone_state(Ui& ui, Drawing drawing) {
    if (!ui.has_model() || !ui.status.task.is_mixer_alone) return false;
    if (ui.status.task.is_bias_alone) {
        empty_state(ui, {.drawing = drawing,
                         .title = "This file holds position biases alone",
                         .sentence = "Attention, keys and completions need a whole model: its "
                                     "other weights are not in this file. Its maps are in the "
                                     "Biases workspace.",
                         .primary = "file.open",
                         .secondary = "file.open_demo",
                         .hint = {},
                         .secondary_words = "Try the demo"});
        return true;
    }
    std::string sentence =
        "Its inputs are vectors: it has no embedding for a picture or a text, and nothing to "
        "predict with. ";
    if (ui.status.mixer.has_bias()) sentence += "Its position biases are in the Biases workspace. ";
    sentence += "The command afterimage run --part mixer evaluates it on tensors of a file.";
    empty_state(ui, {.drawing = drawing,
                     .title = "This model is a mixer alone",
                     .sentence = std::move(sentence),
                     .primary = "file.open",
                     .secondary = "file.open_demo",
                     .hint = {},
                     .secondary_words = "Try the demo"});
    return true;
}

// A model that somebody brought: its file does not say what it was trained on.
static bool unknown_data(Ui& ui) {
    const bool is_text = ui.status.task.is_text();
    Banner spec{.kind = ToastKind::info,
                .title = "No data are known for this model",
                .sentence = is_text ? "Choose a text that it shall read."
                                    : "Open a picture, or choose a folder of pictures; they are "
                                      "brought to its size."};
    if (!is_text) spec.actions.push_back("file.open");
    spec.actions.push_back("file.choose_data");
    banner(ui, spec);
    return true;
}

bool picture_problem(Ui& ui) {
    const ImageChoice& image = ui.selection.image;
    if (image.item || image.error.empty()) return false;
    if (image.path.empty() && ui.status.config.data.source.empty()) return unknown_data(ui);
    const bool is_file = !image.path.empty();
    const bool is_text = ui.status.task.is_text();
    Banner spec{.title = is_file                          ? "This picture could not be read"
                         : image.is_part_empty && is_text ? "This text is too short"
                         : image.is_part_empty            ? "There is no such sample"
                         : is_text                        ? "The text of this model is not here"
                                                          : "The data of this model are not here",
                .sentence = image.error + "."};
    if (!is_text)
        spec.sentence += is_file ? " Take another one." : " A picture from a file needs no data.";
    if (!is_text) spec.actions.push_back("file.open");
    if (!is_file && ui.actions.why_not(ui, "file.choose_data").empty())
        spec.actions.push_back("file.choose_data");
    spec.actions.push_back("file.reread_sample");
    banner(ui, spec);
    return true;
}

}  // namespace aft::app
