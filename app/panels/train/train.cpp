// Run: the state of training and what can be done with it. One primary button.
#include <algorithm>
#include <cmath>
#include <utility>

#include "app/panels/panel.h"
#include "app/panels/shared/until_popup.h"
#include "app/widgets/buttons.h"
#include "app/widgets/combo.h"
#include "app/widgets/number_text.h"
#include "app/widgets/states.h"
#include "app/widgets/text.h"
#include "core/text.h"

namespace aft::app {
namespace {

class RunPanel final : public Panel {
  public:
    void draw(Ui& ui) override;
    void actions(Actions& actions) override;

  private:
    void draw_buttons(Ui& ui);
    void draw_rewind(PaneContext& ui);
    void draw_until(Ui& ui);
    static void draw_progress(PaneContext& ui);
    static void draw_numbers(PaneContext& ui);
    bool opens_rewind_ = false;
    UntilPopup until_;
};

struct Primary {
    const char* action = "run.toggle";
    std::string words{};
};

// What the one filled button does now.
Primary primary_of(const Ui& ui) {
    const int64_t saved = ui.status.saved_step;
    const bool is_broken =
        !ui.status.error.empty() && !ui.status.can_resume && ui.status.state != RunState::running;
    if (ui.status.is_gone) return {"run.save_copy", "Save elsewhere..."};
    const bool needs_data = ui.has_model() && ui.status.config.data.source.empty();
    if (needs_data && ui.actions.why_not(ui, "file.choose_data").empty())
        return {"file.choose_data", "Choose the data..."};
    if (is_broken && ui.actions.why_not(ui, "run.rewind_saved").empty())
        return {"run.rewind_saved", "Rewind to " + group_thousands(saved)};
    if (is_broken)
        return {"run.start_again",
                saved < 0 ? "Start again" : "Start again from " + group_thousands(saved)};
    switch (ui.status.state) {
        case RunState::running:
            return {"run.toggle", "Pause"};
        case RunState::paused:
            return {"run.toggle", "Resume"};
        case RunState::stopping:
            return {"run.toggle", "Stopping"};
        case RunState::stopped:
            return {"run.toggle", "Resume"};
        default:
            return {"run.toggle", "Start"};
    }
}

void primary_button(Ui& ui) {
    const Primary primary = primary_of(ui);
    const Action* action = ui.actions.find(primary.action);
    const bool is_running = ui.status.state == RunState::running;
    const bool is_pressed = button(ui, {.name = {primary.words, "primary"},
                                        .icon = is_running ? icon::pause : action->icon,
                                        .kind = ButtonKind::primary,
                                        .why_not = ui.actions.why_not(ui, primary.action),
                                        .tip = action->sentence,
                                        .shortcut = action->shortcut,
                                        .height = 32,
                                        .shown = primary.words});
    ui.recorder.runs_action(primary.action);
    if (is_pressed) ui.actions.run(ui, primary.action);
}

struct ToolButton {
    const char *action, *name;
    ButtonKind kind = ButtonKind::normal;
};

// True where it was pressed; it does not run the action.
bool tool_pressed(Ui& ui, const ToolButton& tool, const std::string& shown = {}) {
    const auto& [action, name, wanted] = tool;
    ButtonKind kind = wanted;
    const Action* found = ui.actions.find(action);
    ImGui::SameLine(0, ui.px(8));
    if (ImGui::GetContentRegionAvail().x < ui.px(96)) kind = ButtonKind::icon;
    const bool is_pressed = button(ui, {.name = name,
                                        .icon = found->icon,
                                        .kind = kind,
                                        .why_not = ui.actions.why_not(ui, action),
                                        .tip = found->sentence,
                                        .shortcut = {},
                                        .height = 32,
                                        .shown = shown});
    ui.recorder.runs_action(action);
    return is_pressed;
}

void tool_button(Ui& ui, const char* action, const char* name, ButtonKind kind,
                 const std::string& shown = {}) {
    if (tool_pressed(ui, {action, name, kind}, shown)) ui.actions.run(ui, action);
}

// Where it was pressed.
void RunPanel::draw_until(Ui& ui) {
    if (tool_pressed(ui, {"run.until", "Run until...##until"})) until_.open(ui);
    until_.draw(ui);
}

void RunPanel::actions(Actions& actions) {
    actions.add({.id = "run.rewind",
                 .name = "Rewind...",
                 .sentence = "Goes back to a saved step of this run and trains on from there.",
                 .icon = icon::history,
                 .menu = "Run",
                 .why_not = [](const Ui& ui) { return ui.actions.why_not(ui, "run.rewind_saved"); },
                 .run =
                     [this](PaneContext& ui) {
                         ui.commands.send(ShowWorkspace{Workspace::train});
                         opens_rewind_ = true;
                     }});
}

// The logged loss of a step, with its unit; empty if that step was not logged.
std::string loss_words(const ModelView& ui, int64_t step) {
    const auto& steps = ui.curves->step;
    const auto at = std::lower_bound(steps.begin(), steps.end(), double(step));
    if (at == steps.end() || *at != double(step)) return "";
    for (const std::string& name : {ui.status.task.loss_key(), std::string("loss")}) {
        const auto column = ui.curves->columns.find(name);
        if (column == ui.curves->columns.end()) continue;
        const double value = column->second[size_t(at - steps.begin())];
        const bool in_nats = name == "loss";
        return std::isfinite(value)
                   ? short_value(value, 3) + " " + (in_nats ? "nats" : ui.status.metric_words)
                   : "";
    }
    return "";
}

// When a step is saved, and what stays.
std::string saves_words(const TrainConfig& train) {
    std::string words = "A step is saved ";
    if (train.checkpoint_every > 0)
        words += fmt::format("every {} steps, ", group_thousands(train.checkpoint_every));
    if (train.save_minutes > 0)
        words += train.save_minutes == 1 ? std::string("every minute, ")
                                         : fmt::format("every {:g} minutes, ", train.save_minutes);
    return words +
           "before a change of rates, decay, clip or dropout, at the end, and by Save at "
           "any time. What Save writes stays for good.";
}

void RunPanel::draw_rewind(PaneContext& ui) {
    constexpr size_t kMost = 10;
    if (std::exchange(opens_rewind_, false)) ImGui::OpenPopup("rewind");
    // Below the button, also when a key or the palette opened it.
    const ImVec2 under = {ImGui::GetItemRectMin().x, ImGui::GetItemRectMax().y + ui.px(4)};
    ImGui::SetNextWindowPos(under, ImGuiCond_Appearing);
    ImGui::SetNextWindowSizeConstraints({ui.px(340), 0}, {ui.px(340), 1e4F});
    const PopupScope popup(ui, "rewind");
    if (!popup.is_open() || ui.session == nullptr) return;
    ui.recorder.set_section("Rewind##rewind");
    ImGui::Dummy({1, ui.px(4)});
    ImGui::Indent(ui.px(8));
    text(ui, "Go back to a saved step", {text_size::label, ui.theme.text1, Face::semibold});
    hint(ui,
         "Training continues from there in this run, exactly as it did. What came after is kept "
         "as a run of its own, in the folder branches of this run.");
    ImGui::Dummy({1, ui.px(4)});
    ImGui::Unindent(ui.px(8));
    const std::vector<int64_t> saved = ui.session->saved_steps();
    for (size_t i = 0; i < std::min(kMost, saved.size()); ++i) {
        const int64_t step = saved[saved.size() - 1 - i];
        const std::string words = "Step " + group_thousands(step), loss = loss_words(ui, step);
        const Row line =
            row(ui, {words, fmt::format("step_{}", step)}, {.height = 26, .value = loss});
        const float y = line.min.y + ui.px(5);
        text_at(ui, {line.min.x + ui.px(8), y}, words, {text_size::label, ui.theme.text1});
        text_right(ui, {line.max.x - ui.px(8), y}, loss, {text_size::hint, ui.theme.text2});
        if (!line.pressed) continue;
        ui.commands.send(RewindTo{step});
        ImGui::CloseCurrentPopup();
    }
    ImGui::Dummy({1, ui.px(4)});
    ImGui::Indent(ui.px(8));
    hint(ui, saves_words(ui.status.config.train));
    ImGui::Dummy({1, ui.px(4)});
    ImGui::Unindent(ui.px(8));
    ui.recorder.set_section("Run##run");
}

void RunPanel::draw_buttons(Ui& ui) {
    ui.recorder.set_section("Run##run");
    primary_button(ui);
    tool_button(ui, "run.step", "Step##step", ButtonKind::normal);
    tool_button(ui, "run.step_many", "Run N##step_many", ButtonKind::normal,
                "Run " + group_thousands(ui.settings.many_steps));
    draw_until(ui);
    tool_button(ui, "run.rewind", "Rewind...##rewind", ButtonKind::normal);
    draw_rewind(ui);
    tool_button(ui, "run.stop", "Stop##stop", ButtonKind::ghost);
    tool_button(ui, "run.save", "Save##save", ButtonKind::ghost);
    draw_conditions(ui);
}

// The filled button would train nothing now.
bool is_at_target(const Status& s) {
    const bool rests = s.state != RunState::running && s.state != RunState::stopping;
    return rests && s.can_train && !s.following && s.step > 0 && s.step >= s.target_step;
}

void RunPanel::draw_progress(PaneContext& ui) {
    const Status& s = ui.status;
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float width = ImGui::GetContentRegionAvail().x;
    const double target = static_cast<double>(s.target_step);
    const bool has_error = !s.error.empty(), has_target = s.target_step > 0;
    progress_bar(ui, has_target ? static_cast<double>(s.step) / target : 0,
                 has_error ? ui.theme.error : ui.theme.ok, 5);
    ui.recorder.item("progress", ui.recorder.claim("Progress##progress"),
                     has_target ? fmt::format("{} of {}", s.step, s.target_step)
                                : fmt::format("{} steps", s.step));
    if (!has_target) return;
    ImDrawList* draw = ImGui::GetWindowDrawList();
    for (const Event& event : ui.curves->events) {
        if (event.kind != "save") continue;
        const float x =
            std::round(at.x + width * static_cast<float>(static_cast<double>(event.step) / target));
        if (x < at.x + width)
            draw->AddRectFilled({x, at.y - ui.px(2)}, {x + ui.px(2), at.y + ui.px(7)},
                                ui.theme.text1);
    }
}

struct RunPen {
    float x, y, end;
};

void put(DrawContext& ui, RunPen& pen, const std::string& value, std::string_view words) {
    const float number = text_extent(ui, value, text_size::label, Face::medium).x;
    const float unit = text_extent(ui, words, text_size::hint).x;
    if (pen.x + number + unit + ui.px(5) > pen.end) return;
    text_at(ui, {pen.x, pen.y}, value, {text_size::label, ui.theme.text1, Face::medium});
    text_at(ui, {pen.x + number + ui.px(5), pen.y + ui.px(0.5f)}, words,
            {text_size::hint, ui.theme.text3});
    pen.x += number + unit + ui.px(22);
}

void RunPanel::draw_numbers(PaneContext& ui) {
    const Status& s = ui.status;
    const bool is_running = s.state == RunState::running;
    const ImVec2 at = ImGui::GetCursorScreenPos();
    RunPen pen{at.x, at.y, at.x + ImGui::GetContentRegionAvail().x};
    const std::string of_target =
        s.target_step == 0
            ? "steps"
            : fmt::format("of {} steps{}", group_thousands(s.target_step),
                          is_at_target(s) ? ": raise the target step to train on" : "");
    put(ui, pen, group_thousands(s.step), of_target);
    if (is_at_target(s))
        ui.recorder.item("hint", ui.recorder.claim("Target reached##target_reached"), of_target);
    put(ui, pen, is_running && s.eta_s > 0 ? duration(s.eta_s) : "\u2013", "left");
    put(ui, pen, speed_words(s), "it/s");
    const std::string unit = s.task.examples + "/s";
    put(ui, pen, examples_words(s), unit);
    put(ui, pen, memory_words(s), "memory");
    ui.recorder.item(
        "value", ui.recorder.claim("Numbers##numbers"),
        speed_words(s) + " it/s, " + examples_words(s) + " " + unit + ", " + memory_words(s));
    const std::string saved =
        s.saved_step < 0 ? "nothing saved yet" : "saved step " + group_thousands(s.saved_step);
    if (pen.end - text_extent(ui, saved, text_size::hint).x > pen.x)
        text_right(ui, {pen.end, at.y}, saved, {text_size::hint, ui.theme.text3});
    ImGui::Dummy({1, ui.px(16)});
}

void RunPanel::draw(Ui& ui) {
    if (!ui.has_model()) {
        if (ui.status.state != RunState::opening)
            hint(ui, "No run is open. Home starts one, or opens what was trained before.");
        else if (progress_line(ui, "Opening " + ui.status.path, -1, true))
            ui.commands.send(CloseModel{});
        return;
    }
    ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(ui.px(8), ui.px(10)));
    draw_buttons(ui);
    draw_progress(ui);
    draw_numbers(ui);
    ImGui::PopStyleVar();
}

}  // namespace

PanelRoom train_panel() {
    return {
        .info = {"Run", "State of training: start, pause, step, stop, save; progress and speed."},
        .id = "run",
        .icon = icon::play,
        .help =
            "The filled button starts, pauses and resumes. Step trains one step, Run N as many as "
            "Controls says, Run until asks for the step, the loss or the time to stop at; the bar "
            "shows how far the target step is, white marks are checkpoints. Rewind goes back to "
            "one "
            "of them.",
        .places = {{Workspace::train, Slot::top, 0}},
        .make = make_panel<RunPanel>};
}

}  // namespace aft::app
