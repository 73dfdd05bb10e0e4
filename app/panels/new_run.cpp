#include "app/panels/new_run.h"

#include <nlohmann/json.hpp>

#include "app/ui/icons.h"
#include "app/ui/parts.h"
#include "app/ui/widgets.h"
#include "core/text.h"

namespace aft::app {
namespace {

constexpr const char* kGroups[] = {"train", "model", "data"};
constexpr const char* kGroupWords[] = {"Training", "Model", "Data"};

bool contains(std::string_view text, std::string_view part) {
    return text.find(part) != std::string_view::npos;
}

}  // namespace

void NewRunForm::open(Ui& ui, const std::string& preset) {
    is_open_ = true;
    try {
        presets_ = list_presets();
    } catch (const Error& error) {
        presets_.clear();
        problem_ = error.what();
    }
    choose_preset(ui, preset);
}

void NewRunForm::choose_preset(Ui& ui, const std::string& name) {
    for (size_t i = 0; i < presets_.size(); ++i)
        if (presets_[i].name == name) chosen_ = static_cast<int>(i);
    try {
        standard_ = load_preset(name);
        config_ = standard_;
        data_ = config_.data.source;
        problem_.clear();
    } catch (const Error& error) {
        problem_ = error.what();
        ui.say("error", problem_);
    }
    estimated_for_.clear();
}

void NewRunForm::draw_group(Ui& ui, const std::string& group) {
    const SettingRows standard = standard_.rows();
    SettingRows rows = config_.rows();
    for (size_t i = 0; i < rows.size(); ++i) {
        const std::string& key = rows[i].key;
        if (!key.starts_with(group + ".") || key == "data.source") continue;
        if (!filter_.empty() && !contains(key, filter_) && !contains(rows[i].help, filter_))
            continue;
        label_column(ui, key.substr(group.size() + 1), 240, rows[i].help);
        const auto changed = setting_field(ui, rows[i], value_text(standard[i]));
        if (!changed) continue;
        try {
            set_from_text(rows, key, *changed);
            problem_.clear();
        } catch (const Error& error) {
            problem_ = error.what();
        }
    }
}

void NewRunForm::draw_settings(Ui& ui) {
    section(ui, "New run", "every setting has a help text; a bar at the left marks what differs",
            false);
    std::vector<std::string> names;
    for (const PresetInfo& preset : presets_) names.push_back(preset.name);
    label_column(ui, "Preset", 116, "A model, its data and its recipe under one name");
    int chosen = chosen_;
    if (!names.empty() && combo(ui, "Preset", chosen, {names, 320}))
        choose_preset(ui, names[static_cast<size_t>(chosen)]);
    if (chosen_ < static_cast<int>(presets_.size()))
        hint(ui, presets_[static_cast<size_t>(chosen_)].sentence);
    label_column(ui, "Data", 116,
                 "NAME:PATH?option=value, as in cifar10:DIR?size=16 or mirror?size=16&levels=16");
    if (text_field(ui, {.name = "Data", .hint = "mirror?size=16&levels=16", .mono = true}, data_))
        config_.data.source = data_;
    label_column(ui, "Run folder", 116, "Where metrics and checkpoints go; empty: runs/NAME-N");
    text_field(ui,
               {.name = "Run folder", .hint = "runs/" + config_.name + "-1", .icon = icon::folder},
               out_);
    section(ui, "Settings", {}, true);
    const Choice choices[] = {{kGroupWords[0]}, {kGroupWords[1]}, {kGroupWords[2]}};
    segmented(ui, "Group", group_, {choices, 300});
    ImGui::SameLine(0, ui.px(8));
    text_field(ui,
               {.name = "Filter", .hint = "Filter settings", .icon = icon::search, .width = 240},
               filter_);
    ImGui::Dummy({0, ui.px(4)});
    draw_group(ui, kGroups[group_]);
}

void NewRunForm::update_estimate() {
    const std::string now = config_to_json(config_).dump();
    if (now == estimated_for_) return;
    estimated_for_ = now;
    try {
        config_.check();
        estimate_words_ = estimate(config_).value("words", "");
        problem_.clear();
    } catch (const std::exception& error) {
        estimate_words_.clear();
        problem_ = error.what();
    }
}

void NewRunForm::draw_summary(Ui& ui) {
    update_estimate();
    section(ui, "Before the start", {}, false);
    key_value(ui, "Task", config_.model.task);
    key_value(ui, "Mixer", config_.model.mixer);
    key_value(ui, "Layers", group_thousands(config_.model.layers));
    key_value(ui, "Width", group_thousands(config_.model.dim));
    key_value(ui, "Steps", group_thousands(config_.train.steps));
    if (!estimate_words_.empty()) hint(ui, estimate_words_);
    if (!problem_.empty())
        banner(ui,
               {.kind = ToastKind::error, .title = "This cannot start yet", .sentence = problem_});
    ImGui::Dummy({0, ui.px(8)});
    if (button(ui, {.name = "Start run",
                    .icon = icon::play,
                    .kind = ButtonKind::primary,
                    .why_not = problem_,
                    .height = 32}))
        start(ui);
    ImGui::SameLine(0, ui.px(8));
    if (button(ui, {.name = "Cancel", .kind = ButtonKind::ghost, .height = 32})) close();
    section(ui, "Same from the command line");
    std::string command = "afterimage train --preset " + standard_.name;
    if (config_.data.source != standard_.data.source)
        command += " --data '" + config_.data.source + "'";
    text_wrapped(ui, command, text_size::hint, ui.theme.text2);
}

void NewRunForm::start(Ui& ui) {
    auto request = std::make_shared<OpenRequest>();
    request->config = config_;
    request->out = out_;
    request->autostart = true;
    ui.open_request = std::move(request);
    ui.workspace = Workspace::train;
    close();
}

}  // namespace aft::app
