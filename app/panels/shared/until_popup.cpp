#include "app/panels/shared/until_popup.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

#include "app/panels/shared/set_by_hand.h"
#include "app/widgets/buttons.h"
#include "app/widgets/combo.h"
#include "app/widgets/fields.h"
#include "app/widgets/number_text.h"
#include "app/widgets/text.h"
#include "core/text.h"
#include "model/training_settings.h"

namespace aft::app {
namespace {

struct UntilKind {
    const char *key, *name, *id, *sentence;
};
constexpr std::array kKinds{
    UntilKind{"train.steps", "Step", "step", "The step to stop at."},
    UntilKind{"train.until_loss", "Loss", "loss",
              "Stops where the training loss, smoothed over about 20 steps, is at or below this."},
    UntilKind{"train.until_validation", "Validation", "validation",
              "Stops where the validation loss is at or below this."},
    UntilKind{"train.until_minutes", "Minutes", "minutes",
              "Stops after so many minutes of training; pauses do not count."}};

std::string unit_of(const ModelView& ui, int kind) {
    if (kind == 0) return "steps";
    if (kind == 3) return "min";
    return ui.status.task.loss_in_bits ? ui.status.metric_words : "nats";
}

double value_of(const ModelView& ui, int kind) {
    const auto stop = ui.status.config.train.own.read<StopSettings>();
    switch (kind) {
        case 0:
            return static_cast<double>(ui.status.target_step);
        case 1:
            return stop.until_loss;
        case 2:
            return stop.until_validation;
        default:
            return stop.until_minutes;
    }
}

NumberField field_of(const ModelView& ui, int kind) {
    const UntilKind& of = kKinds[static_cast<size_t>(kind)];
    NumberField field{.name = {of.name, of.id}, .min = 0, .max = kind == 0 ? 1e9 : 1e6};
    field.integer = kind == 0;
    field.unit = unit_of(ui, kind);
    field.tip = std::string(of.sentence) + " Enter trains until then.";
    field.width = 260;
    return field;
}

std::string field_id(int kind) {
    return std::string("run/run_until/") + kKinds[static_cast<size_t>(kind)].id;
}

}  // namespace

void UntilPopup::open(PaneContext& ui) {
    ImGui::OpenPopup("run until");
    choose(ui, 0);
}

void UntilPopup::choose(PaneContext& ui, int kind) {
    kind_ = kind;
    value_ = value_of(ui, kind);
    ui.edit = {.id = field_id(kind),
               .text = typed_number(field_of(ui, kind), value_),
               .error = {},
               .typing = true,
               .take_focus = true};
}

void UntilPopup::send(PaneContext& ui) const {
    const NumberField field = field_of(ui, kind_);
    const double before = value_of(ui, kind_);
    if (value_ != before)
        set_by_hand(ui, kKinds[static_cast<size_t>(kind_)].key, typed_number(field, before),
                    typed_number(field, value_));
    if (kind_ == 0)
        ui.commands.send(TrainUntil{std::llround(value_)});
    else if (value_ > 0)
        ui.commands.send(StartTraining{});
}

void UntilPopup::draw_field(PaneContext& ui) {
    ImGui::Dummy({1, ui.px(2)});
    (void)drag_field(ui, field_of(ui, kind_), value_);
    const Status& s = ui.status;
    if (kind_ == 0)
        hint(ui, "Enter trains until this step, Esc closes.");
    else if (s.step >= s.target_step)
        hint(ui, fmt::format("The target step {} is reached: raise it first, by Step.",
                             group_thousands(s.target_step)));
    else
        hint(ui, fmt::format("Enter trains until then, at most to step {}; 0 removes it, Esc "
                             "closes.",
                             group_thousands(s.target_step)));
    if (ui.edit.typing) return;
    const bool is_entered =
        ImGui::IsKeyPressed(ImGuiKey_Enter) || ImGui::IsKeyPressed(ImGuiKey_KeypadEnter);
    if (is_entered) send(ui);
    if (is_entered || ImGui::IsKeyPressed(ImGuiKey_Escape)) ImGui::CloseCurrentPopup();
}

void UntilPopup::draw(PaneContext& ui) {
    ImGui::SetNextWindowPos({ImGui::GetItemRectMin().x, ImGui::GetItemRectMax().y + ui.px(2)},
                            ImGuiCond_Appearing);
    ImGui::SetNextWindowSizeConstraints({ui.px(300), 0}, {ui.px(300), 1e4F});
    const PopupScope popup(ui, "run until");
    if (!popup.is_open()) return;
    ui.recorder.set_section("Run until##run_until");
    std::array<Choice, kKinds.size()> choices;
    for (size_t i = 0; i < choices.size(); ++i)
        choices[i] = {.text = {kKinds[i].name, "by_" + std::string(kKinds[i].id)},
                      .tip = kKinds[i].sentence};
    ImGui::Dummy({1, ui.px(4)});
    ImGui::Indent(ui.px(8));
    int kind = kind_;
    if (segmented(ui, "Condition##condition", kind,
                  {.list = choices, .width = 260, .tip = "What training stops at."}))
        choose(ui, kind);
    else
        draw_field(ui);
    ImGui::Unindent(ui.px(8));
    ImGui::Dummy({1, ui.px(4)});
    ui.recorder.set_section("Run##run");
}

std::string until_words(const ModelView& ui) {
    std::string words;
    for (int kind = 1; kind < static_cast<int>(kKinds.size()); ++kind) {
        const double value = value_of(ui, kind);
        if (value <= 0) continue;
        const char* const what = kind == 1 ? "loss " : kind == 2 ? "validation " : "";
        words += fmt::format("{}{}{:g} {}", words.empty() ? "until " : ", ", what, value,
                             unit_of(ui, kind));
    }
    return words;
}

void draw_conditions(PaneContext& ui) {
    const std::string words = until_words(ui);
    if (words.empty()) return;
    Button spec{.name = {"Remove the condition", "remove_until"},
                .icon = icon::close,
                .kind = ButtonKind::ghost,
                .why_not = ui.status.following ? "Another process trains this run." : "",
                .tip = "Training stops " + words + ". Pressing removes it.",
                .height = 32,
                .shown = words};
    ImGui::SameLine(0, ui.px(8));
    if (ImGui::GetContentRegionAvail().x < button_width(ui, spec)) {
        spec.kind = ButtonKind::icon;
        spec.icon = icon::flag;
    }
    const bool is_pressed = button(ui, spec);
    ui.recorder.item("value", ui.recorder.claim("Until##until_words"), words);
    if (!is_pressed) return;
    for (int kind = 1; kind < static_cast<int>(kKinds.size()); ++kind)
        if (const double value = value_of(ui, kind); value > 0)
            set_by_hand(ui, kKinds[static_cast<size_t>(kind)].key, fmt::format("{}", value), "0");
}

}  // namespace aft::app
