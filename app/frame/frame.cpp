#include "app/frame/frame.h"

#include <fmt/format.h>
#include <imgui_internal.h>

#include <algorithm>
#include <cstdio>
#include <limits>
#include <utility>

#include "app/frame/data_location.h"
#include "app/frame/frame_actions.h"
#include "app/frame/frame_timer.h"
#include "app/frame/frame_tools.h"
#include "app/frame/guard.h"
#include "app/frame/keyboard.h"
#include "app/frame/panes.h"
#include "app/frame/run_actions.h"
#include "app/frame/selection_actions.h"
#include "app/frame/session_host.h"
#include "app/frame/status_bar.h"
#include "app/frame/toasts.h"
#include "app/frame/top_bar.h"
#include "app/frame/warnings.h"
#include "app/panels/shared/completion_readings.h"
#include "core/outside.h"

namespace aft::app {

struct Frame::Impl {
    FrameOptions options;
    Ui ui{};
    Warnings warnings{};
    FrameTools tools{};
    FrameTimer timer{};
    SessionHost host;
    Panes panes;

    explicit Impl(FrameOptions o)
        : options(std::move(o)),
          host(ui, {options.device, options.ranks}, options.wake),
          panes(options.rooms != nullptr ? *options.rooms : panels()) {}
};

namespace {

void add_actions(Actions& actions, FrameTools& tools) {
    add_frame_actions(actions, tools);
    add_data_actions(actions);
    add_figure_actions(actions, tools.figures);
    add_run_actions(actions);
    add_selection_actions(actions, tools);
}

// In the order in which they were sent; what is for the open session before another one takes its
// place, and paths together.
void apply_commands(PaneContext& ui, SessionHost& host, FrameTools& tools) {
    std::vector<std::string> paths;
    std::vector<Command> commands = ui.commands.take();
    for (Command& command : commands) {
        if (auto* order = std::get_if<SessionCommand>(&command)) host.apply(std::move(*order));
        if (const auto* shown = std::get_if<ShowStep>(&command)) ui.selection.step = shown->step;
    }
    for (Command& command : commands) {
        if (auto* path = std::get_if<OpenPath>(&command)) paths.push_back(std::move(path->path));
        if (const auto* browse = std::get_if<BrowseFiles>(&command))
            tools.browser.open(ui, *browse);
        if (std::holds_alternative<CloseModel>(command)) host.close();
        if (auto* pane = std::get_if<ShowPane>(&command)) {
            tools.focus_pane = std::move(pane->id);
            tools.side_hidden = false;
        }
        if (const auto* shown = std::get_if<ShowWorkspace>(&command))
            ui.workspace = shown->workspace;
        if (auto* run = std::get_if<OpenRun>(&command)) {
            host.replace(std::move(run->request));
            ui.workspace = Workspace::train;
        }
    }
    host.open(paths);
}

void update_theme(PaneContext& ui, float display_scale) {
    const auto scale = display_scale * static_cast<float>(ui.settings.zoom);
    if (ui.is_styled && ui.theme.name == ui.settings.theme && ui.scale == scale) return;
    const float before = ui.is_styled ? ui.scale : static_cast<float>(ui.settings.layout_scale);
    if (before > 0 && before != scale) scale_layouts(scale / before);
    ui.theme = viz::theme_of(ui.settings.theme);
    ui.scale = scale;
    ui.is_styled = true;
    apply_theme(ui.theme, scale);
    ui.want_frames(2);
}

void handle_keys(Ui& ui, const FrameTools& tools) {
    const bool types = ImGui::GetIO().WantTextInput;
    own_action_keys();
    ui.selection.flicker = !types && ImGui::IsKeyDown(ImGuiKey_H);
    // Esc first closes the menu or list that stands open.
    const int open = ImGui::GetCurrentContext()->OpenPopupStack.Size;
    if (open > 0 && !types && ImGui::IsKeyPressed(ImGuiKey_Escape, false)) {
        ImGui::ClosePopupToLevel(open - 1, true);
        return;
    }
    const bool has_card =
        tools.palette.is_open() || tools.browser.is_open() || tools.figures.is_open();
    // Then it stops a completion; else the keyboard leaves the control that it stands on.
    const bool leaves = !types && !has_card && ImGui::IsKeyPressed(ImGuiKey_Escape, false);
    if (leaves && !is_completing(ui) && leave_focus()) return;
    if (!has_card) ui.actions.handle_keys(ui);
}

void draw_overlays(Ui& ui, FrameTools& tools, const std::string& help) {
    const ImVec2 display = ImGui::GetIO().DisplaySize;
    ui.recorder.set_pane("Palette##palette");
    tools.palette.draw(ui, display);
    ui.recorder.set_pane("Open##file_browser");
    tools.browser.draw(ui, display);
    ui.recorder.set_pane("Save as figure##figure_card");
    tools.figures.draw(ui, display);
    ui.recorder.set_pane("Keys##shortcuts");
    tools.shortcuts.draw(ui, display, help);
}

}  // namespace

Frame::Frame(FrameOptions options) : impl_(std::make_unique<Impl>(std::move(options))) {
    enable_recovery();
    Ui& ui = impl_->ui;
    ui.headless = impl_->options.headless;
    ui.has_gl = impl_->options.painter != nullptr;
    std::string problem;
    if (!impl_->options.settings_file.empty())
        ui.settings = load_user_settings(impl_->options.settings_file, problem);
    if (!problem.empty()) ui.say("warning", problem);
    restore_view(ui.selection, ui.settings.view);
    ui.painter = impl_->options.painter;
    std::vector<std::string> missing;
    ui.fonts = load_fonts(*ImGui::GetIO().Fonts, missing);
    for (const std::string& name : missing)
        ui.say("warning", "font not found: " + name + "; another one is used");
    ImGui::GetIO().IniFilename = nullptr;
    if (!ui.settings.layout.empty()) ImGui::LoadIniSettingsFromMemory(ui.settings.layout.c_str());
    add_actions(ui.actions, impl_->tools);
    impl_->panes.add_actions(ui.actions);
}

Frame::~Frame() {
    for (const UnsavedSteps& steps : end_sessions())  // nobody asked before
        fmt::print(stderr, "afterimage: {}: {}\n", printable(steps.what()),
                   printable(steps.reason));
}

Ui& Frame::ui() {
    return impl_->ui;
}

void Frame::open(const std::string& path) {
    impl_->ui.commands.send(OpenPath{path});
}

Session* Frame::session() {
    return impl_->host.session();
}

void Frame::set_display_scale(float scale) {
    impl_->options.display_scale = scale;
}

// What the last frame asked of the session (a field that closing the window has committed).
std::optional<UnsavedSteps> Frame::save_session() {
    for (Command& command : impl_->ui.commands.take())
        if (auto* const asked = std::get_if<SessionCommand>(&command))
            impl_->host.apply(std::move(*asked));
    return impl_->host.save();
}

std::vector<UnsavedSteps> Frame::end_sessions() {
    return impl_->host.end();
}

void Frame::save_settings() {
    Impl& p = *impl_;
    if (p.options.settings_file.empty()) return;
    p.ui.settings.view = kept_view(p.ui.selection);
    impl_->ui.settings.layout = ImGui::SaveIniSettingsToMemory();
    impl_->ui.settings.layout_scale = p.ui.fonts.regular != nullptr ? p.ui.scale : 0;
    save_user_settings(p.options.settings_file, p.ui.settings);
}

void Frame::prepare(double seconds) {
    Impl& p = *impl_;
    p.timer.begin();
    p.ui.time = seconds;
    p.ui.wanted = {.count = std::max(0, p.ui.wanted.count - 1)};
    apply_commands(p.ui, p.host, p.tools);
    if (p.options.feed)
        p.options.feed(p.ui);
    else
        p.host.poll();
    p.host.note_changes();
    p.warnings.report(p.ui);
    p.tools.figures.report(p.ui);
    update_theme(p.ui, p.options.display_scale);
    p.host.load_image();
    p.tools.timeline.advance(p.ui);
}

void Frame::draw() {
    Impl& p = *impl_;
    Ui& ui = p.ui;
    const ImVec2 display = ImGui::GetIO().DisplaySize;
    ui.recorder.begin_frame();
    handle_keys(ui, p.tools);
    draw_top_bar(ui, frame_areas(ui, display, false), display);
    // The top bar may have chosen another workspace: what follows is of one and the same.
    const bool has_timeline = ui.workspace != Workspace::home;
    const FrameAreas areas = frame_areas(ui, display, has_timeline);
    if (areas.rail > 0) p.panes.draw_rail(ui, p.tools, areas);
    p.panes.draw(ui, p.tools, areas);
    if (has_timeline) p.tools.timeline.draw(ui, areas, display);
    draw_status_bar(ui, areas, display);
    ui.recorder.set_pane("Toasts##toasts");
    draw_toasts(ui);
    draw_overlays(ui, p.tools, p.panes.help(ui.workspace));
    ui.recorder.end_frame();
    if (p.panes.has_left(ui.workspace)) ui.want_frames(3);
    if (ui.commands.has_waiting()) ui.want_frames(2);  // they are applied before the next frame
}

void Frame::finish() {
    impl_->timer.end(impl_->ui.stats);
}

std::string dump(const PaneContext& ui) {
    return dump_text(ui.recorder, ui.stats.frames, workspace_name(ui.workspace),
                     ImGui::GetIO().DisplayFramebufferScale.x);
}

std::vector<Action> all_actions() {
    Actions actions;
    FrameTools tools;
    add_actions(actions, tools);
    for (const PanelRoom& room : panels()) room.make()->actions(actions);
    std::vector<Action> list = actions.all();
    for (Action& action : list)
        action.run = {}, action.why_not = {};  // nothing behind them lives on
    return list;
}

}  // namespace aft::app
