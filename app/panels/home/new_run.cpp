#include "app/panels/home/new_run.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "app/panels/shared/schedule_curve.h"
#include "app/state/data_locations.h"
#include "app/state/icons.h"
#include "app/widgets/buttons.h"
#include "app/widgets/combo.h"
#include "app/widgets/setting_field.h"
#include "app/widgets/states.h"
#include "app/widgets/text.h"
#include "app/widgets/text_fields.h"
#include "core/caught.h"
#include "core/data_spec.h"
#include "core/text.h"

namespace aft::app {
namespace {

constexpr const char* kGroups[] = {"train", "model", "data"};
constexpr const char* kGroupWords[] = {"Training##train", "Model##model", "Data##data"};

bool contains(std::string_view text, std::string_view part) {
    return text.find(part) != std::string_view::npos;
}

// An estimate is not worth more than two digits.
double two_digits(double value) {
    if (!(value > 0)) return 0;
    const double unit = std::pow(10, std::floor(std::log10(value)) - 1);
    return std::round(value / unit) * unit;
}

std::string rounded_bytes(double bytes) {
    if (bytes >= double{1 << 30}) return plain_number(two_digits(bytes / (1 << 30)), 1) + " GiB";
    return plain_number(std::max(1.0, two_digits(bytes / (1 << 20))), 0) + " MiB";
}

std::string rounded_count(double count) {
    if (count >= 1e6) return plain_number(count / 1e6, 1) + " million";
    return group_thousands(std::llround(count));
}

std::string rounded_duration(double seconds) {
    if (seconds < 10) return "under 10 seconds";
    if (seconds < 90) return fmt::format("about {:.0f} seconds", std::round(seconds / 10) * 10);
    if (seconds < 5400)
        return fmt::format("about {:.0f} minutes", std::max(2.0, two_digits(seconds / 60)));
    if (seconds < 36 * 3600)
        return "about " + plain_number(two_digits(seconds / 3600), 1) + " hours";
    return fmt::format("about {:.0f} days", std::max(2.0, two_digits(seconds / 86400)));
}

// Of the setting that names the task: those that a new run can have.
void drop_untrainable(Setting& row, const ModelConfig& model) {
    if (row.key != "model.task") return;
    std::erase_if(row.choices, [&](const std::string& task) {
        ModelConfig tried = model;
        tried.task = task;
        return !task_traits(tried).is_trainable();
    });
}

// The line under the field of the data; always there, so that nothing moves when it speaks up.
void data_line(DrawContext& ui, const std::string& problem) {
    ImGui::SetCursorPosX(ImGui::GetCursorPosX() + ui.px(116));
    ImGui::BeginGroup();
    ImGui::PushTextWrapPos(0);
    text(ui, problem.empty() ? "NAME:PATH?option=value, as in cifar10:DIR?size=16" : problem,
         {text_size::hint, problem.empty() ? ui.theme.text3 : ui.theme.error});
    ImGui::PopTextWrapPos();
    ImGui::EndGroup();
    if (!problem.empty())
        ui.recorder.item("problem", ui.recorder.claim("Data problem##data_problem"), problem);
}

// The field of this form that stands red: what was typed into it is not taken. "" = none.
std::string unfinished_field(const DrawContext& ui) {
    if (ui.edit.error.empty() || !ui.edit.id.starts_with("home/")) return "";
    const std::string key = ui.edit.id.substr(ui.edit.id.rfind('/') + 1);
    return setting_label(key) + ": " + ui.edit.error + ".";
}

// What hides that field takes its text with it: nothing unseen may forbid the start.
void forget_unfinished_field(DrawContext& ui) {
    if (!unfinished_field(ui).empty()) ui.edit = {};
}

}  // namespace

void NewRunForm::open(Ui& ui, const std::string& preset) {
    is_open_ = true;
    presets_.clear();
    problem_ = error_words([&] { presets_ = list_presets(); });
    choose_preset(ui, preset);
}

void NewRunForm::close() {
    is_open_ = wants_start_ = false;
    browser_.close();
}

void NewRunForm::choose_preset(Ui& ui, const std::string& name) {
    for (size_t i = 0; i < presets_.size(); ++i)
        if (presets_[i].name == name) shown_.preset = static_cast<int>(i);
    forget_unfinished_field(ui);
    problem_ = error_words([&] {
        standard_ = load_preset(name);
        config_ = standard_;
        config_.data.source = data_as_remembered(ui.settings, config_.data.source);
        data_ = config_.data.source;
    });
    if (!problem_.empty()) ui.say("error", problem_);
}

void NewRunForm::draw_group(DrawContext& ui, const std::string& group) {
    const SettingRows standard = standard_.rows();
    SettingRows rows = config_.rows();
    const std::set<std::string> unread = unread_settings(config_);
    bool any = false;
    for (size_t i = 0; i < rows.size(); ++i) {
        const std::string& key = rows[i].key;
        if (!key.starts_with(group + ".") || key == "data.source" || unread.contains(key)) continue;
        if (!shown_.filter.empty() && !contains(key, shown_.filter) &&
            !contains(rows[i].help, shown_.filter))
            continue;
        any = true;
        drop_untrainable(rows[i], config_.model);
        const float available = ImGui::GetContentRegionAvail().x / ui.scale;
        const auto changed = setting_row(ui, rows[i], value_text(standard[i]),
                                         {.column = available > 560 ? 240.0F : 180.0F});
        if (!changed) continue;
        problem_ = error_words([&] { set_from_text(rows, key, *changed); });
    }
    if (!any) hint(ui, "No setting of this group has these words.");
}

void NewRunForm::draw_data(PaneContext& ui) {
    if (const std::string path = std::exchange(ui.file_chosen, {}); !path.empty())
        data_ = config_.data.source =
            remember_data_location(ui.settings, config_.data.source, path);
    label_column(ui, "Data", 116,
                 "NAME:PATH?option=value, as in cifar10:DIR?size=16 or mirror?size=16&levels=16");
    const auto last = check_.last();
    const std::string data_problem = last ? last->data_problem : "";
    if (text_field(ui,
                   {.name = "Data##data",
                    .hint = "mirror?size=16&levels=16",
                    .width = ImGui::GetContentRegionAvail().x / ui.scale - 68,
                    .mono = true,
                    .problem = data_problem,
                    .tip = "NAME:PATH?option=value, as in cifar10:DIR?size=16."},
                   data_))
        config_.data.source = data_;
    ImGui::SameLine(0, ui.px(8));
    const bool has_place = !split_data_spec(config_.data.source).path.empty();
    if (button(ui, {.name = "Choose the data folder##choose_data",
                    .icon = icon::folder,
                    .kind = ButtonKind::icon,
                    .why_not = has_place ? "" : "These data name no folder or file.",
                    .tip = "Says where these data lie; it is remembered."}))
        ui.commands.send(BrowseFiles{.question = "Where are the data? " + config_.data.source});
    ImGui::SameLine(0, ui.px(8));
    if (button(ui, {.name = "Look through the data##browse_data",
                    .icon = icon::picture,
                    .kind = ButtonKind::icon,
                    .tip = "Shows parts, sizes, classes and examples of these data."}))
        browser_.open(config_);
    browser_.draw(ui);
    data_line(ui, data_problem);
}

void NewRunForm::draw_settings(Ui& ui) {
    const bool is_wide = ImGui::GetContentRegionAvail().x > ui.px(600);
    section(ui, "New run##new_run",
            is_wide ? "every setting has a help text; a bar at the left marks what differs" : "",
            false);
    std::vector<std::string> names;
    for (const PresetInfo& preset : presets_) names.push_back(preset.name);
    label_column(ui, "Preset", 116, "A model, its data and its recipe under one name");
    int chosen = shown_.preset;
    if (!names.empty() && combo(ui, "Preset##preset", chosen,
                                {.list = names,
                                 .width = 320,
                                 .tip = "A model, its data and its recipe under one name."}))
        choose_preset(ui, names[static_cast<size_t>(chosen)]);
    if (shown_.preset < static_cast<int>(presets_.size()))
        hint(ui, presets_[static_cast<size_t>(shown_.preset)].sentence);
    draw_data(ui);
    label_column(ui, "Run folder", 116, "Where metrics and checkpoints go; empty: runs/NAME-N");
    text_field(ui,
               {.name = "Run folder##run_folder",
                .hint = "runs/" + config_.name + "-N, the next free",
                .icon = icon::folder,
                .tip = "Where metrics and checkpoints go; empty: the next free one in runs."},
               out_);
    section(ui, "Settings##settings", {}, true);
    const Choice choices[] = {{kGroupWords[0]}, {kGroupWords[1]}, {kGroupWords[2]}};
    bool is_other = segmented(ui, "Group##group", shown_.group,
                              {.list = choices, .width = 300, .tip = "Which settings are shown."});
    ImGui::SameLine(0, ui.px(8));
    is_other |=
        bool(text_field(ui,
                        {.name = "Filter##filter",
                         .hint = "Filter settings",
                         .icon = icon::search,
                         .width = std::min(240.0F, ImGui::GetContentRegionAvail().x / ui.scale),
                         .tip = "Shows the settings that have these letters in name or help."},
                        shown_.filter));
    if (is_other) forget_unfinished_field(ui);
    ImGui::Dummy({0, ui.px(4)});
    draw_group(ui, kGroups[shown_.group]);
}

// None: dashes, and why, in the same height.
void NewRunForm::draw_numbers(DrawContext& ui, const Estimate* needs, const char* why_none) {
    const auto known = [&](auto&& words) { return needs ? words(*needs) : std::string("\u2013"); };
    key_value(ui, "Parameters##parameters", known([](const Estimate& of) {
                  return rounded_count(static_cast<double>(of.parameters));
              }));
    key_value(ui, "Memory##memory", known([](const Estimate& of) {
                  return "about " + rounded_bytes(static_cast<double>(of.training_bytes));
              }));
    if (needs) {
        const auto kept = static_cast<double>(needs->activations_bytes);
        hint(ui, fmt::format(
                     "Counted: {} for the weights with their gradients and averages, {} that a "
                     "step keeps for its backward pass. The program itself takes some hundreds of "
                     "MiB more.",
                     rounded_bytes(static_cast<double>(needs->training_bytes) - kept),
                     rounded_bytes(kept)));
    }
    key_value(ui, "Time##time",
              known([](const Estimate& of) { return rounded_duration(of.seconds); }));
    if (!needs) return hint(ui, why_none);
    hint(ui, fmt::format("Multiplications of {} steps at the speed this machine has just shown. "
                         "Reading data, validation and other work come on top: twice as long is "
                         "possible.",
                         group_thousands(config_.train.steps)));
}

void NewRunForm::draw_estimate(DrawContext& ui) {
    const auto last = check_.last();
    section(ui, "Estimate##estimate", check_.answer() ? "" : "being made ...");
    const float top = ImGui::GetCursorPosY();
    draw_numbers(ui, last && last->is_good() ? &last->estimate : nullptr,
                 last ? "It follows when the settings fit together." : "Reading the data ...");
    const float used = ImGui::GetCursorPosY() - top;
    shown_.numbers_height = std::max(shown_.numbers_height, used / ui.scale);
    const float left = ui.px(shown_.numbers_height) - used - ImGui::GetStyle().ItemSpacing.y;
    if (left > 0) ImGui::Dummy({1, left});
}

void NewRunForm::draw_start(Ui& ui) {
    const auto answer = check_.answer();
    std::string why = problem_.empty() ? unfinished_field(ui) : problem_;
    if (why.empty() && answer && !answer->is_good())
        why = answer->data_problem.empty() ? answer->settings_problem : answer->data_problem;
    // Whoever types again while a start waits for its check has not finished.
    if (!why.empty() || ImGui::GetIO().WantTextInput) wants_start_ = false;
    ImGui::Dummy({0, ui.px(8)});
    if (button(ui, {.name = "Start run##start_run",
                    .icon = icon::play,
                    .kind = ButtonKind::primary,
                    .why_not = why,
                    .tip = "Makes the run folder and begins to train.",
                    .height = 32}))
        wants_start_ = true;
    ImGui::SameLine(0, ui.px(8));
    if (button(ui, {.name = "Cancel##cancel",
                    .kind = ButtonKind::ghost,
                    .tip = "Back to the recent runs.",
                    .height = 32}))
        close();
    // Below the buttons, which stand still when it comes.
    const std::string& shown = answer && !answer->data_problem.empty() ? problem_ : why;
    if (!shown.empty())
        banner(ui, {.kind = ToastKind::error, .title = "This cannot start yet", .sentence = shown});
    if (wants_start_ && answer) start(ui);
}

void NewRunForm::draw_summary(Ui& ui) {
    check_.refresh(config_);
    if (!check_.answer()) ui.want_frames(1);
    section(ui, "Before the start##before_the_start", {}, false);
    key_value(ui, "Task##task", config_.model.task);
    key_value(ui, "Mixer##mixer", config_.model.mixer);
    key_value(ui, "Layers##layers", group_thousands(config_.model.layers));
    key_value(ui, "Width##width", group_thousands(config_.model.dim));
    key_value(ui, "Steps##steps", group_thousands(config_.train.steps));
    draw_start(ui);
    section(ui, "Learning rate##learning_rate");
    draw_schedule(ui, config_.train, 0, config_.train.steps);
    draw_estimate(ui);
    section(ui, "Same from the command line##command_line");
    const std::string command = training_command(config_, standard_, out_);
    ImGui::PushTextWrapPos(0);
    text(ui, command, {text_size::hint, ui.theme.text2, Face::mono});
    ImGui::PopTextWrapPos();
    ui.recorder.item("value", ui.recorder.claim("Command##command"), command);
    if (button(ui, {.name = "Copy as command##copy_command",
                    .icon = icon::copy,
                    .kind = ButtonKind::ghost,
                    .tip = "Puts it on the clipboard."})) {
        ImGui::SetClipboardText(command.c_str());
        ui.toasts.add({.kind = ToastKind::done, .title = "Command copied"});
    }
}

std::string training_command(Config config, Config preset, const std::string& out) {
    std::string words = "afterimage train --preset " + shell_word(preset.name);
    if (config.data.source != preset.data.source)
        words += " --data " + shell_word(config.data.source);
    const SettingRows rows = config.rows(), standard = preset.rows();
    const std::set<std::string> unread = unread_settings(config);
    for (size_t i = 0; i < rows.size(); ++i) {
        const std::string value = value_text(rows[i]);
        if (rows[i].key != "data.source" && !unread.contains(rows[i].key) &&
            value != value_text(standard[i]))
            words += " --set " + shell_word(rows[i].key + "=" + value);
    }
    if (!out.empty()) words += " --out " + shell_word(out);
    return words;
}

void NewRunForm::start(PaneContext& ui) {
    wants_start_ = false;
    OpenRun run;
    run.request.config = config_;
    run.request.out = out_;
    run.request.autostart = true;
    ui.commands.send(std::move(run));  // it shows Train
    close();
}

}  // namespace aft::app
