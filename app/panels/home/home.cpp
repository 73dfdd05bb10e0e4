// Home: recent runs, a new run, demos that need no download, and what this machine has.
#include <imgui_internal.h>

#include <chrono>
#include <cmath>
#include <ctime>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "app/cli/results_json.h"
#include "app/panels/home/new_run.h"
#include "app/panels/home/run_catalog.h"
#include "app/panels/home/run_row.h"
#include "app/panels/home/sweep_page.h"
#include "app/panels/panel.h"
#include "app/panels/shared/thumbnail.h"
#include "app/state/icons.h"
#include "app/state/open_path.h"
#include "app/widgets/buttons.h"
#include "app/widgets/combo.h"
#include "app/widgets/number_text.h"
#include "app/widgets/states.h"
#include "app/widgets/text.h"
#include "app/widgets/tooltip.h"
#include "core/json.h"
#include "core/text.h"
#include "viz/gl/context.h"

namespace aft::app {
namespace {

viz::gl::OpenGlInfo opengl(const Ui& ui) {
    if (ui.has_gl) return viz::gl::opengl_info();
    return {.version = "none", .renderer = "none"};
}

// A run that this window itself holds open is not "running" because of that.
RunSummary as_open_here(const ModelView& ui, RunSummary run) {
    if (!ui.has_model() || !run.error.empty() || run.state != "running" ||
        !is_same_path(run.path, ui.status.path) || ui.status.following)
        return run;
    const RunState state = ui.status.state;
    const int64_t all_steps = std::max(ui.status.target_step, ui.status.config.train.steps);
    const bool is_done = ui.status.step >= all_steps;
    if (state == RunState::running || state == RunState::stopping) return run;
    run.step = ui.status.step;
    run.target_step = all_steps;
    run.state = shown_state(ui.status) == RunState::error ? "failed"
                : is_done                                 ? "finished"
                : state == RunState::paused               ? "paused"
                : state == RunState::stopped              ? "stopped"
                                                          : "open here";
    return run;
}

class HomePanel final : public Panel {
  public:
    void draw(Ui& ui) override;
    void actions(Actions& actions) override;

  private:
    void draw_heading(Ui& ui, float width);
    void draw_runs(Ui& ui, float width);
    void draw_drop_hint(DrawContext& ui, float width);
    void draw_demo(Ui& ui, size_t index);
    void draw_side(Ui& ui);
    void draw_machine(Ui& ui);
    void copy_report(Ui& ui);

    bool copies_report_ = false;  // as soon as it has been read
    RunCatalog catalog_;
    NewRunForm form_;
    SweepPage sweep_;
    std::map<std::string, Thumbnail> thumbnails_;
    Thumbnail demo_pictures_[std::size(kDemos)];
};

void HomePanel::actions(Actions& actions) {
    actions.add({.id = "file.new_run",
                 .name = "New run",
                 .sentence = "Choose a preset, data and settings, and start training.",
                 .icon = icon::plus,
                 .shortcut = "Ctrl+N",
                 .menu = "File",
                 .why_not = {},
                 .run = [this](Ui& ui) {
                     ui.commands.send(ShowWorkspace{Workspace::home});
                     form_.open(ui, "demo-mirror");
                 }});
    actions.add(
        {.id = "help.copy_system_report",
         .name = "Copy system report",
         .sentence = "Puts device, memory, OpenGL and LibTorch of this machine on the clipboard.",
         .icon = icon::copy,
         .shortcut = "",
         .menu = "Help",
         .why_not = {},
         .run = [this](Ui& ui) {
             // It is read there.
             if (!catalog_.page()) ui.commands.send(ShowWorkspace{Workspace::home});
             copies_report_ = true;
             copy_report(ui);
         }});
}

void HomePanel::copy_report(Ui& ui) {
    const auto page = catalog_.page();
    if (!page || !std::exchange(copies_report_, false)) return;
    nlohmann::json report = to_json(page->system);
    if (!page->system_problem.empty()) report = {{"error", page->system_problem}};
    const viz::gl::OpenGlInfo gl = opengl(ui);
    report["opengl"] = gl.version;
    report["opengl_renderer"] = gl.renderer;
    ImGui::SetClipboardText(json_text(report, 2).c_str());
    ui.toasts.add(
        {.kind = ToastKind::done, .title = "System report copied", .detail = {}, .action = {}});
}

void HomePanel::draw(Ui& ui) {
    std::vector<std::string> paths;
    for (const RecentItem& item : ui.settings.recent) paths.push_back(item.path);
    if (paths.size() > kMostRows) paths.resize(kMostRows);
    catalog_.refresh(paths, ui.time, ui.status.state == RunState::running ? 2 : 20);
    if (catalog_.is_reading()) ui.want_frames(1);
    copy_report(ui);
    if (!ui.selection.sweep.folder.empty() && !form_.is_open()) return sweep_.draw(ui);
    const float available = ImGui::GetContentRegionAvail().x;
    const float page = std::min(available - ui.px(32), ui.px(1240));
    const bool is_wide = page > ui.px(760);
    const float side = is_wide ? ui.px(312) : std::floor(page * 0.34F);
    const float gap = ui.px(is_wide ? 48 : 20);
    const bool has_side = is_wide || form_.is_open();  // its Start is always in view
    const float main_width = has_side ? page - side - gap : page;
    const float left = std::floor((available - page) / 2);
    ImGui::SetCursorPos({ImGui::GetCursorPosX() + left, ImGui::GetCursorPosY() + ui.px(36)});
    ImGui::BeginChild("main", {main_width, 0}, ImGuiChildFlags_NavFlattened);
    if (form_.is_open()) {
        form_.draw_settings(ui);
    } else {
        // Without the scrollbar, where there is one.
        const float inner = has_side ? ImGui::GetContentRegionAvail().x
                                     : main_width - ImGui::GetStyle().ScrollbarSize;
        draw_heading(ui, inner);
        draw_runs(ui, inner);
        draw_drop_hint(ui, inner);
        if (!has_side) draw_side(ui);
    }
    ImGui::EndChild();
    if (!has_side) return;
    ImGui::SameLine(0, gap);
    ImGui::BeginChild("side", {side, 0}, ImGuiChildFlags_NavFlattened);
    if (form_.is_open())
        form_.draw_summary(ui);
    else
        draw_side(ui);
    ImGui::EndChild();
}

void HomePanel::draw_heading(Ui& ui, float width) {
    const ImVec2 start = ImGui::GetCursorPos();
    text(ui, "Recent runs", {text_size::title, ui.theme.text1, Face::semibold});
    const Action* fresh = ui.actions.find("file.new_run");
    const Button primary{.name = {fresh->name, fresh->id},
                         .icon = fresh->icon,
                         .kind = ButtonKind::primary,
                         .tip = fresh->sentence};
    float buttons = action_button_width(ui, "file.open") + ui.px(8) + button_width(ui, primary);
    const bool has_tour = ui.settings.tour_done && width > buttons + ui.px(320);
    if (has_tour) buttons += action_button_width(ui, "help.tour", ButtonKind::ghost) + ui.px(8);
    ImGui::SetCursorPos({start.x + width - buttons, start.y});
    if (has_tour) {
        action_button(ui, "help.tour", ButtonKind::ghost);
        ImGui::SameLine(0, ui.px(8));
    }
    action_button(ui, "file.open", ButtonKind::normal);
    ImGui::SameLine(0, ui.px(8));
    if (button(ui, primary)) ui.actions.run(ui, "file.new_run");
    ImGui::SetCursorPos({start.x, start.y + ui.px(50)});
}

// Until it was taken or refused.
static void offer_tour(Ui& ui) {
    text(ui, "New here? The tour goes through every workspace in under a minute.",
         {text_size::body, ui.theme.text2});
    action_button(ui, "help.tour", ButtonKind::normal);
    ImGui::SameLine(0, ui.px(8));
    if (button(ui, {.name = "Not now##no_tour",
                    .kind = ButtonKind::ghost,
                    .tip = "Help starts it at any time."})) {
        ui.settings.tour_done = true;
        ImGui::MarkIniSettingsDirty();  // the settings are written soon
    }
    ImGui::Dummy({1, ui.px(12)});
}

// As high as the rows that come.
static void draw_reading(Ui& ui, size_t rows, float width) {
    const ImVec2 at = ImGui::GetCursorPos();
    hint(ui, "Reading the recent runs");
    ImGui::SetCursorPos(at);
    const float all = float(rows) * run_row_height(ui) - ImGui::GetStyle().ItemSpacing.y;
    ImGui::Dummy({width, std::max(ui.px(84), all)});
}

void HomePanel::draw_runs(Ui& ui, float width) {
    const auto page = catalog_.page();
    if (!ui.settings.tour_done) offer_tour(ui);
    if (!page) {
        draw_reading(ui, std::min(kMostRows, ui.settings.recent.size()), width);
        return;
    }
    if (page->runs.empty() && ui.settings.recent.empty()) {
        const ImVec2 at = ImGui::GetCursorScreenPos();
        text_at(ui, {at.x, at.y + ui.px(8)}, "No runs yet",
                {text_size::empty, ui.theme.text1, Face::semibold});
        text_at(ui, {at.x, at.y + ui.px(36)},
                "Start a demo at the right, make a new run, or open a checkpoint.",
                {text_size::body, ui.theme.text2});
        ImGui::Dummy({width, ui.px(84)});
    }
    for (const RunSummary& run : page->runs)
        if (draw_run_row(ui, as_open_here(ui, run), thumbnails_[run.path], width))
            ui.commands.send(OpenPath{run.path});
}

void HomePanel::draw_drop_hint(DrawContext& ui, float width) {
    ImGui::Dummy({0, ui.px(10)});
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const ImVec2 size{width - 1, ui.px(84)};  // the last line stands inside the page
    ImDrawList* draw = ImGui::GetWindowDrawList();
    for (float x = 0; x < size.x; x += ui.px(10)) {
        const float end = std::min(x + ui.px(6), size.x);
        for (const float y : {0.0F, size.y})
            draw->AddLine({at.x + x, at.y + y}, {at.x + end, at.y + y}, ui.theme.strong);
    }
    for (float y = 0; y < size.y; y += ui.px(10)) {
        const float end = std::min(y + ui.px(6), size.y);
        for (const float x : {0.0F, size.x})
            draw->AddLine({at.x + x, at.y + y}, {at.x + x, at.y + end}, ui.theme.strong);
    }
    const auto centred = [&](std::string_view words, float y, float height, ImU32 color,
                             Face face) {
        const float words_width = text_extent(ui, words, height, face).x;
        text_at(ui, {at.x + (size.x - words_width) / 2, at.y + ui.px(y)}, words,
                {height, color, face});
    };
    centred("Drop a checkpoint, a run folder or an image anywhere", 20, text_size::label,
            ui.theme.text1, Face::medium);
    centred(".safetensors, run folders, .png, .jpeg", 44, text_size::hint, ui.theme.text3,
            Face::regular);
    ImGui::Dummy(size);
    ImGui::Dummy({0, ui.px(16)});
    text(ui, "Same from the command line:", {text_size::hint, ui.theme.text3});
    ImGui::SameLine(0, ui.px(12));
    text(ui, "afterimage train --preset demo-mirror",
         {text_size::hint, ui.theme.text2, Face::mono});
}

void HomePanel::draw_demo(Ui& ui, size_t index) {
    const Demo& demo = kDemos[index];
    const auto page = catalog_.page();
    const Image none;
    const Image& picture = page ? page->demos[index] : none;
    const ImVec2 start = ImGui::GetCursorScreenPos();
    ImGui::SetNextItemAllowOverlap();  // by the button at its right
    const Row item = row(ui, {demo.title, demo.preset},
                         {58, false, picture.pixels.empty() ? "" : "with picture"});
    ImGui::GetWindowDrawList()->AddRectFilled(
        item.min, item.max, item.hovered ? ui.theme.field : ui.theme.raised, ui.px(6));
    const ImVec2 corner{item.min.x + ui.px(5), item.min.y + ui.px(5)};
    demo_pictures_[index].draw(ui, picture, corner, ui.px(float(kDemoSide)));
    const float left = item.min.x + ui.px(64);
    text_at(ui, {left, item.min.y + ui.px(9)}, demo.title,
            {text_size::label, ui.theme.text1, Face::medium});
    text_at(ui, {left, item.min.y + ui.px(31)}, demo.sentence,
            {text_size::hint, ui.theme.text2, Face::regular, item.max.x - left - ui.px(28)});
    const bool is_unpictured = picture.pixels.empty() && page && !page->demos_problem.empty();
    tooltip(ui, {.name = demo.title,
                 .sentence =
                     is_unpictured ? page->demos_problem : ui.actions.find(demo.action)->sentence});
    ImGui::SetCursorScreenPos({item.max.x - ui.px(30), (item.min.y + item.max.y) / 2 - ui.px(13)});
    const WidgetName name{std::string("Settings of ") + demo.title,
                          std::string("settings_of_") + demo.preset};
    if (button(ui, {.name = name,
                    .icon = icon::tune,
                    .kind = ButtonKind::icon,
                    .tip = "A new run that begins with the settings of this demo."}))
        form_.open(ui, demo.preset);
    ImGui::SetCursorScreenPos({start.x, item.max.y});
    ImGui::Dummy({0, ui.px(2)});
    if (item.pressed) ui.actions.run(ui, demo.action);
}

void HomePanel::draw_side(Ui& ui) {
    section(ui, "Start without a download##demos", {}, false);
    for (size_t i = 0; i < std::size(kDemos); ++i) draw_demo(ui, i);
    draw_machine(ui);
}

void HomePanel::draw_machine(Ui& ui) {
    const auto page = catalog_.page();
    section(ui, "This machine##this_machine", page ? "" : "Reading");
    const SystemReport none;
    const SystemReport& report = page ? page->system : none;
    const auto known = [&](const std::string& words) {
        return !page ? "\u2013" : words.empty() ? "unknown" : words;
    };
    const auto bytes = [&](int64_t count) {
        return page ? byte_size(static_cast<double>(count)) : "\u2013";
    };
    key_value(ui, "Device##device", known(report.device));
    key_value(ui, "Processor##processor", known(report.cpu));
    key_value(ui, "Instructions##instructions", known(report.cpu_capability));
    key_value(ui, "Cores##cores", known(report.cores > 0 ? std::to_string(report.cores) : ""));
    key_value(ui, "Memory free##memory_free", bytes(report.memory_available_bytes));
    key_value(ui, "Memory in use##memory_in_use", bytes(report.memory_bytes));
    key_value(ui, "LibTorch##libtorch", known(report.libtorch));
    const viz::gl::OpenGlInfo gl = opengl(ui);
    key_value(ui, "OpenGL##opengl", gl.version);
    if (ui.has_gl) key_value(ui, "Renderer##renderer", gl.renderer);
    key_value(ui, "Maps to screen##maps_to_screen", "copied");
    ImGui::Dummy({0, ui.px(4)});
    action_button(ui, "help.copy_system_report", ButtonKind::ghost);
}

}  // namespace

PanelRoom home_panel() {
    return {
        .info = {"Home",
                 "Recent runs, a new run, demos without a download, and what this machine has."},
        .id = "home",
        .icon = icon::home,
        .help =
            "Open a run or a checkpoint, or start a new run. A click on a demo opens it, the "
            "button "
            "on it shows its settings; "
            "files and folders can be dropped anywhere in the window. The folder of a sweep shows "
            "its table and plot here.",
        .places = {{Workspace::home, Slot::page}},
        .make = make_panel<HomePanel>};
}

}  // namespace aft::app
