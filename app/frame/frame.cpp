#include "app/frame/frame.h"

#include <fmt/format.h>
#include <imgui_internal.h>

#include <algorithm>
#include <cstdio>
#include <limits>
#include <utility>

#include "app/frame/bars/silence.h"
#include "app/frame/bars/status_bar.h"
#include "app/frame/bars/toasts.h"
#include "app/frame/bars/top_bar.h"
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
#include "app/frame/shared_settings.h"
#include "app/frame/warnings.h"
#include "app/panels/shared/completion_readings.h"
#include "app/state/undo_notes.h"
#include "core/outside.h"

namespace aft::app {

struct Frame::Impl {
    FrameOptions options;
    Ui ui{};
    Warnings warnings{};
    FrameTools tools{};
    FrameTimer timer{};
    Silence silence{};
    SessionHost host;
    Panes panes;
    UserSettings loaded{};  // as they were when the file was read or written last

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
    add_view_actions(actions, tools.views);
    add_metrics_actions(actions, tools.metrics);
    add_copy_actions(actions, tools.copies);
    add_layout_actions(actions, tools.layouts);
    add_mask_actions(actions, tools.masks);
    add_film_actions(actions, tools.films, tools.recorder);
    add_tour_actions(actions, tools.tour);
    add_run_actions(actions);
    add_selection_actions(actions, tools);
}

// In the order in which they were sent; what is for the open session before another one takes its
// place, and paths together.
void apply_commands(Ui& ui, SessionHost& host, FrameTools& tools) {
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
            tools.focus_panes.push_back(std::move(pane->id));
            tools.side_hidden = false;
        }
        auto* const picture = std::get_if<TakePicture>(&command);
        if (picture != nullptr && ui.picture.is_unfinished()) {
            ui.toasts.add({.kind = ToastKind::warning,
                           .title = "Not saved: the one before is still being written",
                           .detail = picture->request.path});
        } else if (picture != nullptr) {
            constexpr int kFramesBefore = 4;  // card and menu are gone, the ground is another
            ui.picture.request = std::move(picture->request);
            ui.picture.frames = kFramesBefore;
            ui.want_frames(kFramesBefore + 1);
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

void update_theme(Ui& ui, float display_scale) {
    const auto scale = display_scale * static_cast<float>(ui.settings.zoom);
    const ThemeName theme = ui.picture.is_due()
                                ? ui.picture.request.ground.value_or(ui.settings.theme)
                                : ui.settings.theme;
    if (ui.is_styled && ui.theme.name == theme && ui.scale == scale) return;
    const float before = ui.is_styled ? ui.scale : static_cast<float>(ui.settings.layout_scale);
    if (before > 0 && before != scale) scale_layouts(scale / before);
    ui.theme = viz::theme_of(theme);
    ui.scale = scale;
    ui.is_styled = true;
    apply_theme(ui.theme, scale);
    ui.want_frames(2);
}

bool has_card(const FrameTools& tools) {
    return tools.palette.is_open() || tools.browser.is_open() || tools.figures.is_open() ||
           tools.views.is_open() || tools.films.is_open() || tools.layouts.is_open() ||
           tools.masks.is_open() || tools.metrics.is_open() || tools.notes.is_open() ||
           tools.copies.is_open();
}

// Something lies over the panes.
bool is_covered(const FrameTools& tools) {
    return has_card(tools) || tools.tour.is_open() || tools.shortcuts.is_open() ||
           ImGui::GetCurrentContext()->OpenPopupStack.Size > 0;
}

void handle_keys(Ui& ui, FrameTools& tools) {
    const bool types = ImGui::GetIO().WantTextInput;
    own_action_keys(tools.shortcuts.is_waiting());
    ui.selection.flicker = !types && ImGui::IsKeyDown(ImGuiKey_H);
    if (tools.shortcuts.is_waiting()) return;
    // Esc first closes the menu or list that stands open.
    const int open = ImGui::GetCurrentContext()->OpenPopupStack.Size;
    if (open > 0 && !types && ImGui::IsKeyPressed(ImGuiKey_Escape, false)) {
        ImGui::ClosePopupToLevel(open - 1, true);
        return;
    }
    const bool is_carded = has_card(tools);
    if (tools.tour.is_open() && ImGui::IsKeyPressed(ImGuiKey_Escape, false)) return;
    // Then it stops a film or a completion; else the keyboard leaves the control that it stands on.
    const bool leaves = !types && !is_carded && ImGui::IsKeyPressed(ImGuiKey_Escape, false);
    if (leaves && tools.recorder.is_recording() && !tools.shortcuts.is_open())
        return tools.recorder.cancel(ui);
    if (leaves && !is_completing(ui) && leave_focus()) return;
    if (!is_carded) ui.actions.handle_keys(ui);
}

void draw_overlays(Ui& ui, FrameTools& tools, const std::vector<PaneHelp>& help) {
    const ImVec2 display = ImGui::GetIO().DisplaySize;
    ui.recorder.set_pane("Palette##palette");
    tools.palette.draw(ui, display);
    ui.recorder.set_pane("Open##file_browser");
    tools.browser.draw(ui, display);
    ui.recorder.set_pane("Save as figure##figure_card");
    tools.figures.draw(ui, display);
    ui.recorder.set_pane("Save view##view_card");
    tools.views.draw(ui, display);
    ui.recorder.set_pane("Layouts##layout_card");
    tools.layouts.draw(ui, display);
    ui.recorder.set_pane("Mask as a picture##mask_card");
    tools.masks.draw(ui, display);
    ui.recorder.set_pane("Export metrics##metrics_card");
    tools.metrics.draw(ui, display);
    ui.recorder.set_pane("Note at a step##note_card");
    tools.notes.draw(ui, display);
    ui.recorder.set_pane("Save elsewhere##copy_card");
    tools.copies.draw(ui, display);
    ui.recorder.set_pane("Save film##film_card");
    tools.films.draw(ui, tools.recorder, display);
    ui.recorder.set_pane("Tour##tour");
    tools.tour.draw(ui, display);
    ui.recorder.set_pane("Keys##shortcuts");
    tools.shortcuts.draw(ui, display, help);
}

}  // namespace

Frame::Frame(FrameOptions options) : impl_(std::make_unique<Impl>(std::move(options))) {
    enable_recovery();
    Ui& ui = impl_->ui;
    ui.headless = impl_->options.headless;
    ui.program = impl_->options.program;
    ui.has_gl = impl_->options.painter != nullptr;
    std::string problem;
    if (!impl_->options.settings_file.empty())
        ui.settings = load_user_settings(impl_->options.settings_file, problem);
    impl_->loaded = ui.settings;
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
    impl_->tools.shortcuts.take_settings(ui);
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
    save_shared_settings(p.ui, p.loaded, p.options.settings_file);
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
    p.silence.update(p.ui);
    p.warnings.report(p.ui);
    p.tools.figures.report(p.ui);
    p.tools.metrics.report(p.ui);
    p.tools.copies.report(p.ui);
    update_theme(p.ui, p.options.display_scale);
    p.tools.layouts.apply(p.ui);
    p.host.load_image();
    p.tools.recorder.prepare(p.ui);
    if (!p.tools.recorder.is_recording()) p.tools.timeline.advance(p.ui);
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
    ui.picture.low = p.panes.middle().Min;
    ui.picture.high = p.panes.middle().Max;
    ui.numbers = nullptr;  // of the panes alone
    if (has_timeline) p.tools.timeline.draw(ui, areas, display);
    draw_status_bar(ui, areas, display);
    ui.recorder.set_pane("Toasts##toasts");
    const bool is_filmed = p.tools.recorder.is_recording();  // toasts wait, they cover the panes
    if (!is_filmed && !ui.picture.is_now()) draw_toasts(ui);
    p.tools.recorder.draw(ui, areas, display);
    draw_overlays(ui, p.tools, p.panes.help(ui.workspace));
    ui.recorder.end_frame();
    note_choices(ui, ui.time);
    ui.selection.lab.history.stamp(ui.time);
    stamp(ui.selection.completion.mask, ui.time);
    p.tools.recorder.note_drawn(ui, is_covered(p.tools) || ui.picture.is_due());
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
