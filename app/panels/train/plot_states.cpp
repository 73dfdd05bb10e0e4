#include "app/panels/train/plot_states.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/widgets/states.h"
#include "core/text.h"

namespace aft::app {

// "train.learning_rate = 1e-3" -> "learning rate 1e-3"
std::string event_words(std::string text) {
    text = text.substr(text.starts_with("train.") ? 6 : 0);
    const size_t equals = text.find(" = ");
    if (equals != std::string::npos) text.replace(equals, 3, " ");
    std::replace(text.begin(), text.end(), '_', ' ');
    return text;
}

std::string short_words(const std::string& text, size_t most) {
    size_t letters = 0;
    for (size_t i = 0; i < text.size(); ++i)
        if ((static_cast<unsigned char>(text[i]) & 0xC0) != 0x80 && ++letters > most)
            return text.substr(0, i) + "\u2026";
    return text;
}

namespace {

// After which changes, and what is safe.
std::string error_sentence(const ModelView& ui, StandingEvents& standing) {
    const Status& s = ui.status;
    if (ui.status.is_gone)
        return fmt::format(
            "What was learnt up to step {} is in memory only: save it elsewhere. Where the folder "
            "is put back, training resumes in it.",
            group_thousands(s.step));
    if (s.can_resume && s.step > std::max<int64_t>(s.saved_step, 0))
        return fmt::format(
            "What was learnt up to step {} is in memory only: save it, or resume "
            "when the cause is gone.",
            group_thousands(s.step));
    if (s.can_resume) return "Nothing is lost: resume when the cause is gone.";
    int64_t step = -1;
    std::string changes;
    for (const Event& event : standing.of(ui.curves)) {
        if (event.kind != "learning-rate" && event.kind != "setting") continue;
        changes = (event.step == step ? changes + " and " : "") + event_words(event.text);
        step = event.step;
    }
    std::string words;
    if (step >= 0)
        words = fmt::format("It follows {}, set at step {}. ", changes, group_thousands(step));
    if (s.saved_step < 0) return words + "None of its steps is saved on the disk.";
    return words + fmt::format("Step {} is saved and safe.", group_thousands(s.saved_step));
}

// What can work now.
std::string remedy_of(const ModelView& ui) {
    if (ui.status.is_gone) return "run.save_copy";
    return ui.status.can_resume ? "run.save" : "run.retry_step";
}

// The filled button stands above, in the pane Run: none here.
void draw_nothing_logged(Ui& ui) {
    const Status& s = ui.status;
    if (!s.task.is_trainable()) {
        empty_state(ui, {.drawing = Drawing::curve,
                         .title = "Nothing to train",
                         .sentence = s.task.no_training + "."});
        return;
    }
    const bool is_fresh = s.step == 0;
    std::string sentence = "The curves begin with the second step.";
    if (!is_fresh && ui.curves->step.size() == 1)
        sentence = fmt::format("Step {} alone is logged so far; the curves begin with the next.",
                               group_thousands(int64_t(ui.curves->step[0])));
    else if (!is_fresh)
        sentence = fmt::format("{} steps are trained{}", group_thousands(s.step),
                               s.can_train ? ", but this checkpoint carries no curves; they begin "
                                             "with the next step."
                                           : "; this checkpoint carries no curves.");
    empty_state(
        ui,
        {.drawing = Drawing::curve,
         .title = is_fresh ? "Nothing trained yet" : "No curves yet",
         .sentence = sentence,
         .hint = s.can_train ? "Space starts and pauses, the period key trains one step." : ""});
}

void draw_error_banner(Ui& ui, StandingEvents& standing) {
    if (!ui.status.error.empty())
        banner(ui, {.kind = ToastKind::error,
                    .title = std::string(ui.status.state == RunState::error ? "Training stopped: "
                                                                            : "Training paused: ") +
                             ui.status.error,
                    .sentence = error_sentence(ui, standing),
                    .actions = {remedy_of(ui), "view.log", "run.copy_error"}});
}

}  // namespace

bool draw_no_curves(Ui& ui, StandingEvents& standing) {
    if (!ui.has_model()) {
        empty_state(
            ui, {.drawing = Drawing::curve,
                 .title = "No run is open",
                 .sentence =
                     "Start a run to watch its loss, gradients and biases move while it learns.",
                 .primary = "file.new_run",
                 .secondary = "file.open_demo",
                 .hint = "Space starts and pauses, the period key trains one step.",
                 .secondary_words = "Try the demo"});
        return true;
    }
    draw_error_banner(ui, standing);
    if (ui.curves->step.size() >= 2) return false;
    draw_nothing_logged(ui);
    return true;
}

}  // namespace aft::app
