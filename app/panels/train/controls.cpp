// Controls: the live settings of the open run, generated from its visit() rows; pace; checks in
// words.
#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "app/panels/panel.h"
#include "app/panels/shared/schedule_curve.h"
#include "app/panels/shared/set_by_hand.h"
#include "app/widgets/buttons.h"
#include "app/widgets/fields.h"
#include "app/widgets/number_text.h"
#include "app/widgets/part_list.h"
#include "app/widgets/setting_field.h"
#include "app/widgets/text.h"
#include "app/widgets/text_fields.h"
#include "core/text.h"

namespace aft::app {
namespace {

class ControlsPanel final : public Panel {
  public:
    void draw(Ui& ui) override;
    void actions(Actions& actions) override;

  private:
    void draw_settings(PaneContext& ui, bool live);
    void draw_setting(PaneContext& ui, Setting& row);
    std::optional<std::string> draw_text(PaneContext& ui, const Setting& row,
                                         const std::string& blocked);
    void draw_target(PaneContext& ui);
    static void draw_rates(PaneContext& ui);
    static void draw_many_steps(Ui& ui);
    static void draw_processor(PaneContext& ui);
    static void draw_checks(PaneContext& ui);
    std::string standard_of(const ModelView& ui, const std::string& key);

    std::string run_;                               // whose standards these are
    std::map<std::string, std::string> standards_;  // values when the run was opened
    bool show_all_ = false, focus_target_ = false;
    bool run_after_ = false;  // "Run until..." waits for the target step
    FieldEdit text_;          // the setting that is typed into: key, and what stands there
};

constexpr const char* kTarget = "controls/optimiser/target_step";

void ControlsPanel::actions(Actions& actions) {
    actions.add({.id = "run.until",
                 .name = "Run until...",
                 .sentence = "Asks for the step to stop at, then resumes.",
                 .icon = icon::flag,
                 .menu = "Run",
                 .why_not = [](const Ui& ui) { return ui.actions.why_not(ui, "run.step"); },
                 .run =
                     [this](PaneContext& ui) {
                         ui.commands.send(ShowWorkspace{Workspace::train});
                         ui.commands.send(ShowPane{"controls"});
                         focus_target_ = run_after_ = true;
                     }});
}

std::string ControlsPanel::standard_of(const ModelView& ui, const std::string& key) {
    if (run_ != ui.status.path) {
        run_ = ui.status.path;
        text_ = {};
        standards_.clear();
        Config config = ui.status.config;
        for (const Setting& row : config.rows()) standards_[row.key] = value_text(row);
    }
    return standards_[key];
}

bool is_refused(const ModelView& ui, const std::string& key) {
    return ui.status.message.starts_with(key + ": ");
}

void ControlsPanel::draw_setting(PaneContext& ui, Setting& row) {
    std::string blocked = ui.has_model() ? "" : "No run is open.";
    if (!row.live && ui.status.step > 0) blocked = "This is fixed once training has begun.";
    if (ui.status.following) blocked = "Another process trains this run.";
    if (!ui.status.can_train && !ui.status.following) blocked = "This model is only looked at.";
    const std::string standard = standard_of(ui, row.key);
    const std::string before = value_text(row);
    const bool is_text = std::holds_alternative<std::string*>(row.value) && row.choices.empty();
    const auto value =
        is_text ? draw_text(ui, row, blocked)
                : setting_row(ui, row, standard, {.is_narrow = true, .why_not = blocked});
    if (value) set_by_hand(ui, row.key, before, *value);
    if (is_refused(ui, row.key))
        text_wrapped(ui, ui.status.message, text_size::hint, ui.theme.error);
}

// Words count when they are whole: at Enter, or when the field is left.
std::optional<std::string> ControlsPanel::draw_text(PaneContext& ui, const Setting& row,
                                                    const std::string& blocked) {
    label_column(ui, setting_label(row.key, true), 116, row.help);
    const std::string now = value_text(row);
    std::string words = text_.id == row.key ? text_.text : now;
    TextField field{.name = {setting_label(row.key), row.key},
                    .hint = "none",
                    .why_not = blocked,
                    .tip = row.help};
    if (!row.parts.empty())
        field.width = ImGui::GetContentRegionAvail().x / ui.scale - kPartListWidth - 4;
    const TextEdit edit = text_field(ui, field, words);
    const bool is_typing = ImGui::IsItemActive();
    const bool is_left = text_.id == row.key && text_.typing && !is_typing;
    const bool is_whole = edit.is_submitted || is_left || (edit.is_changed && !is_typing);
    if (is_typing || is_whole)  // what is refused stays, to be mended
        text_ = {.id = row.key, .text = words, .error = {}, .opened = now, .typing = is_typing};
    else if (text_.id == row.key && now != text_.opened)
        text_ = {};
    if (!row.parts.empty()) {
        ImGui::SameLine(0, ui.px(4));
        const PartList list{
            .name = field.name, .parts = row.parts, .why_not = blocked, .tip = row.help};
        if (const auto chosen = part_list(ui, list, words)) return text_ = {}, chosen;
    }
    return is_whole && words != now ? std::optional(words) : std::nullopt;
}

// What the field's number has become where the schedule has run out; "" before.
std::string schedule_words(const ModelView& ui) {
    const TrainConfig& train = ui.status.config.train;
    const int64_t length = train.schedule_steps > 0 ? train.schedule_steps : train.steps;
    const bool has_ended = ui.status.step >= std::max(length, train.warmup);
    if (train.schedule != "cosine" || !has_ended || !ui.status.names_rates) return "";
    const auto rates = ui.curves->columns.find("lr");
    const double now = rates == ui.curves->columns.end() || rates->second.empty()
                           ? std::nan("")
                           : rates->second.back();
    return fmt::format("Its schedule ended at step {}{}", group_thousands(length),
                       std::isfinite(now) ? ": now " + significant(now, 2) + "." : ".");
}

// Those that nothing of this model reads are left out, as in New run.
void ControlsPanel::draw_settings(PaneContext& ui, bool live) {
    Config config = ui.status.config;
    const std::set<std::string> unread = unread_settings(config);
    SettingRows rows = config.rows();
    std::string group;
    for (Setting& row : rows) {
        if (row.live != live || row.key == "train.steps" || unread.contains(row.key)) continue;
        const std::string here = row.key.substr(0, row.key.find('.'));
        if (!live && here != group) {
            group = here;
            section(ui, {here == "model" ? "Model" : (here == "data" ? "Data" : "Training"), here},
                    "fixed once begun");
        }
        draw_setting(ui, row);
        if (row.key != "train.learning_rate") continue;
        if (const std::string words = schedule_words(ui); !words.empty()) hint(ui, words);
    }
}

// Enter in the target step counts also where the number stays as it was.
bool is_entered(bool was_typed, const DrawContext& ui) {
    return was_typed && !ui.edit.typing &&
           (ImGui::IsKeyPressed(ImGuiKey_Enter) || ImGui::IsKeyPressed(ImGuiKey_KeypadEnter));
}

void ControlsPanel::draw_target(PaneContext& ui) {
    label_column(ui, "Target step", 116,
                 "The step to stop at. It can be raised at any time, also after the end.");
    int64_t target = ui.status.target_step;
    if (ui.status.following && target == 0) {
        key_value(ui, {"", "target_step"}, "not named by this run");
        return;
    }
    if (std::exchange(focus_target_, false))
        ui.edit = {.id = kTarget,
                   .text = std::to_string(target),
                   .error = {},
                   .typing = true,
                   .take_focus = true};
    const std::string why = ui.status.can_train ? "" : "This model is only looked at.";
    NumberField field{.name = "Target step##target_step", .min = 0, .max = 1e9};
    field.unit = "steps";
    field.why_not = why;
    field.tip = "The step to stop at. It can be raised at any time, also after the end.";
    field.on_release = true;
    const bool was_typed = ui.edit.typing && ui.edit.id == kTarget;
    const bool is_changed = drag_field(ui, field, target);
    const bool runs = run_after_ && is_entered(was_typed, ui);  // a number alone does not begin
    const bool is_typed = ui.edit.typing && ui.edit.id == kTarget;
    if (!is_typed) run_after_ = false;
    if (is_changed)
        set_by_hand(ui, "train.steps", std::to_string(ui.status.target_step),
                    std::to_string(target));
    if (runs) ui.commands.send(TrainUntil{target});
}

void ControlsPanel::draw_rates(PaneContext& ui) {
    const Status& s = ui.status;
    if (s.can_train && s.names_rates) draw_schedule(ui, s.config.train, s.step, s.target_step);
}

void ControlsPanel::draw_many_steps(Ui& ui) {
    label_column(ui, "Steps at once", 116, "How many steps \"Run N steps\" trains.");
    NumberField field{
        .name = "Steps at once##steps_at_once", .min = 1, .max = 1e6, .standard = 100};
    field.unit = "steps";
    field.tip = "How many steps \"Run N steps\" trains.";
    field.width = ImGui::GetContentRegionAvail().x / ui.scale - 34;
    (void)drag_field(ui, field, ui.settings.many_steps);
    ImGui::SameLine(0, ui.px(8));
    (void)action_button(ui, "run.step_many", ButtonKind::icon);
}

void ControlsPanel::draw_processor(PaneContext& ui) {
    section(ui, "Processor##processor");
    label_column(ui, "Trainer gets", 116,
                 "Share of the time that training may use; the rest is left to the window.");
    double share = ui.settings.trainer_share * 100;
    NumberField field{.name = "Trainer gets##trainer_gets", .min = 10, .max = 100};
    field.integer = true;
    field.unit = "%";
    field.tip = "Share of the time that training may use; the rest is left to the window.";
    if (slider(ui, field, share)) {
        ui.settings.trainer_share = share / 100;
        ui.commands.send(SetTrainerShare{share / 100});
    }
    toggle(ui, "Smooth while I interact##smooth_while_interact", ui.settings.smooth_while_interact,
           {.words = "Smooth while I interact",
            .tip = "Training yields for a moment when a frame is late while you use the window."});
}

constexpr double kEven = 0.05;  // so near to log2 of the levels the first guesses are even

struct Check {
    bool is_good;
    std::string words;
};

const NumberColumn* column(const ModelView& ui, const char* name) {
    const auto found = ui.curves->columns.find(name);
    return found == ui.curves->columns.end() || found->second.empty() ? nullptr : &found->second;
}

struct Reading {  // of a column at a logged step
    double step = 0, value = std::nan("");
    size_t row = 0;
};

Reading last_finite(const ModelView& ui, const NumberColumn* values) {
    const NumberColumn& steps = ui.curves->step;
    for (size_t i = values == nullptr ? 0 : std::min(values->size(), steps.size()); i-- > 0;)
        if (std::isfinite((*values)[i])) return {steps[i], (*values)[i], i};
    return {};
}

// A single batch says little: the average of the logged losses up to a row, each 0.8 of the weight
// of the one after it: a longer average lags behind where the loss falls fast.
double smoothed_at(const NumberColumn& values, size_t row) {
    constexpr size_t kMost = 100;  // beyond them a weight is below 1e-9
    constexpr double kWeight = 0.8;
    double sum = 0, weights = 0, weight = 1;
    for (size_t i = row + 1; i-- > 0 && row - i < kMost; weight *= kWeight) {
        if (!std::isfinite(values[i])) continue;
        sum += weight * values[i];
        weights += weight;
    }
    return weights > 0 ? sum / weights : std::nan("");
}

// Of nats, in the unit of the plots.
std::string nats_words(const ModelView& ui, double nats) {
    const bool has_bits = ui.status.task.loss_in_bits;
    return short_value(has_bits ? nats / std::log(2) : nats, 3) + (has_bits ? " bits" : " nats");
}

// Both at the step of the last validation, however far training has gone since.
void check_validation(const ModelView& ui, const NumberColumn& loss, std::vector<Check>& list) {
    const Reading held_out = last_finite(ui, column(ui, "validation.loss"));
    if (!std::isfinite(held_out.value) || held_out.row >= loss.size()) return;
    const double train = smoothed_at(loss, held_out.row);
    if (!std::isfinite(train)) return;
    const double gap = held_out.value - train, bits = gap / std::log(2);
    list.push_back({bits < 0.3 && bits > -1,
                    fmt::format("Step {}: validation is {} {} train (smoothed).",
                                group_thousands(std::llround(held_out.step)),
                                nats_words(ui, std::abs(gap)), gap >= 0 ? "above" : "below")});
}

void check_floor(const ModelView& ui, const NumberColumn& loss, double most_bits,
                 std::vector<Check>& list) {
    const Reading last = last_finite(ui, &loss);
    if (!ui.status.floor_bits || !std::isfinite(last.value)) return;
    const double floor = *ui.status.floor_bits;
    const double above = smoothed_at(loss, last.row) / std::log(2) - floor;
    list.push_back(
        {above < most_bits,
         fmt::format("Step {}: train (smoothed) is {} bits {} the floor of {:.3f}.",
                     group_thousands(std::llround(last.step)), short_value(std::abs(above), 3),
                     above >= 0 ? "above" : "below", floor)});
}

std::vector<Check> checks(const ModelView& ui) {
    std::vector<Check> list;
    const auto* loss = column(ui, "loss");
    const ModelConfig& model = ui.status.config.model;
    const auto count = static_cast<double>(model.outputs());
    if (ui.status.following && ui.status.saved_step < 0)
        return list;  // what it trains is not known
    const bool has_first = loss != nullptr && !ui.curves->step.empty() &&
                           ui.curves->step.front() <= 1 && std::isfinite(loss->front());
    if (has_first) {
        const double first = loss->front(), ideal = std::log(count);
        const bool is_even = std::abs(first - ideal) < kEven * ideal;
        const std::string where = is_even ? std::string("close to")
                                          : nats_words(ui, std::abs(first - ideal)) +
                                                (first > ideal ? " above" : " below");
        list.push_back({is_even, fmt::format("First loss {}, {} {}\u00A0{:.0f}\u00A0=\u00A0{}, "
                                             "that of even guesses.",
                                             nats_words(ui, first), where,
                                             ui.status.task.loss_in_bits ? "log2" : "ln", count,
                                             nats_words(ui, ideal))});
    }
    if (loss != nullptr) check_validation(ui, *loss, list);
    if (const auto* norm = column(ui, "grad_norm"); norm != nullptr && !norm->empty()) {
        const bool is_whole = ui.status.error.empty() || ui.status.can_resume;
        const bool finite = std::isfinite(norm->back()) && is_whole;
        list.push_back(
            {finite, finite ? fmt::format("Gradients are finite in all {} layers.", model.layers)
                            : ui.status.error});
    }
    if (loss != nullptr) check_floor(ui, *loss, std::log2(count), list);
    return list;
}

void ControlsPanel::draw_checks(PaneContext& ui) {
    section(ui, "Checks##checks");
    const std::vector<Check> list = checks(ui);
    if (list.empty()) hint(ui, "They begin with the first step.");
    for (const Check& check : list) {
        const ImVec2 at = ImGui::GetCursorScreenPos();
        icon_at(ui, {at.x + ui.px(8), at.y + ui.px(10)}, check.is_good ? icon::ok : icon::warning,
                {16, check.is_good ? ui.theme.ok : ui.theme.warn});
        ImGui::SetCursorScreenPos({at.x + ui.px(24), at.y + ui.px(2)});
        ImGui::BeginGroup();
        text_wrapped(ui, check.words, text_size::label, ui.theme.text2);
        ImGui::EndGroup();
        ui.recorder.item("check", ui.recorder.claim("Check##check"), check.words);
    }
}

void ControlsPanel::draw(Ui& ui) {
    if (!ui.has_model()) {
        hint(ui, "Learning rate, weight decay and more appear when a run is open.");
        return;
    }
    if (!ui.status.task.is_trainable()) {
        hint(ui, ui.status.task.no_training + ".");
        return;
    }
    section(ui, "Optimiser##optimiser", "changes are pinned", false);
    if (!ui.status.names_rates)
        hint(ui,
             "Another program trained this run and names no rates. These count only where it "
             "is continued here.");
    draw_settings(ui, true);
    draw_target(ui);
    draw_rates(ui);
    draw_many_steps(ui);
    draw_processor(ui);
    draw_checks(ui);
    section(ui, "All settings##all_settings");
    toggle(ui, "Show all settings##show_all_settings", show_all_,
           {.words = "Show all settings",
            .tip = "Also the settings that are fixed once training has begun."});
    if (show_all_) draw_settings(ui, false);
}

}  // namespace

PanelRoom controls_panel() {
    return {.info = {"Controls", "Settings that may change while training runs, and all others."},
            .id = "controls",
            .icon = icon::tune,
            .help =
                "Drag a field or click it to type. Every change is kept as a pin on the "
                "timeline; a bar at a field's left edge says that it differs from the beginning.",
            .places = {{Workspace::train, Slot::right, 0}},
            .make = make_panel<ControlsPanel>};
}

}  // namespace aft::app
