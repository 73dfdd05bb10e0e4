// Actions of the window itself: opening, workspaces, palette, themes, size, layout.
#include "app/frame/frame_actions.h"

#include <algorithm>
#include <filesystem>

#include "app/frame/frame_tools.h"
#include "app/frame/keyboard.h"
#include "app/widgets/buttons.h"
#include "core/caught.h"
#include "core/files.h"

namespace aft::app {

namespace {

constexpr double kZooms[] = {0.5, 0.67, 0.75, 0.8, 0.9, 1, 1.1, 1.25, 1.5, 1.75, 2, 2.5, 3};

void zoom(ViewState& ui, int direction) {
    double next = ui.settings.zoom;
    for (const double z : kZooms) {
        if (direction > 0 && z > ui.settings.zoom + 1e-6) {
            next = z;
            break;
        }
        if (direction < 0 && z < ui.settings.zoom - 1e-6) next = z;
    }
    ui.settings.zoom = next;
}

// The shipped checkpoint with `stem` in its name; empty if there is none.
std::string demo_file(const std::string& stem) {
    std::error_code problem;
    fs::path folder;
    if (!error_words([&] { folder = shared_file("assets/demo"); }).empty()) return {};
    for (const auto& entry : fs::directory_iterator(folder, problem))
        if (entry.path().extension() == ".safetensors" &&
            entry.path().filename().string().find(stem) != std::string::npos)
            return entry.path().string();
    return {};
}

void train_demo(PaneContext& ui, const std::string& preset) {
    OpenRun run;
    run.request.config = load_preset(preset);
    run.request.autostart = true;
    ui.commands.send(std::move(run));
}

void open_demo(PaneContext& ui, const char* name) {
    const std::string file = demo_file(name);
    if (file.empty()) {
        train_demo(ui, std::string("demo-") + name);
        return;
    }
    if (ui.workspace == Workspace::home) ui.workspace = Workspace::biases;
    ui.commands.send(OpenPath{file});
}

void add_file_actions(Actions& actions) {
    actions.add({.id = "file.open",
                 .name = "Open...",
                 .sentence = "Opens a checkpoint, a run folder, a picture, a view or a recipe.",
                 .icon = icon::open,
                 .shortcut = "Ctrl+O",
                 .menu = "File",
                 .run = [](PaneContext& ui) { ui.commands.send(BrowseFiles{}); }});
    actions.add({.id = "file.open_demo",
                 .name = "Open demo",
                 .sentence = "Opens the shipped mirror model, or trains it in half a minute.",
                 .icon = icon::play,
                 .menu = "File",
                 .run = [](PaneContext& ui) { open_demo(ui, "mirror"); }});
    actions.add({.id = "file.open_demo_shapes",
                 .name = "Open demo Shapes",
                 .sentence = "Opens the shipped classifier of shapes, or trains it.",
                 .icon = icon::play,
                 .run = [](PaneContext& ui) { open_demo(ui, "shapes"); }});
    const std::tuple<const char*, const char*, const char*> demos[] = {
        {"mirror", "Mirror", "Trains a model that learns to look at the mirrored pixel."},
        {"tiles", "Tiles", "Trains a model that learns the period of a pattern."},
        {"shapes", "Shapes", "Trains a classifier of discs, boxes and bars."}};
    for (const auto& [key, name, sentence] : demos) {
        std::string preset = std::string("demo-") + key;
        actions.add({.id = std::string("file.train_demo_") + key,
                     .name = std::string("Train demo ") + name,
                     .sentence = sentence,
                     .icon = icon::play,
                     .run = [preset](PaneContext& ui) { train_demo(ui, preset); }});
    }
    actions.add({.id = "file.quit",
                 .name = "Quit",
                 .sentence = "Saves a running training and closes the window.",
                 .icon = icon::quit,
                 .shortcut = "Ctrl+Q",
                 .menu = "File",
                 .run = [](PaneContext& ui) { ui.commands.send(Quit{}); }});
}

void add_workspace_actions(Actions& actions) {
    const char* sentences[] = {"Recent runs, a new run, demos, this machine.",
                               "Start, pause, change and watch training.",
                               "Position biases of all layers and heads.",
                               "Where a target looks: prior, content, both.",
                               "Fill in masked images or continue texts, several samples at once.",
                               "Two to four steps or runs beside each other.",
                               "Change biases and see what that does to the loss."};
    const char* icons[] = {icon::home,    icon::chart,   icon::grid, icon::eye,
                           icon::picture, icon::compare, icon::flask};
    int key = 0;
    for (const Workspace workspace : kWorkspaces) {
        const auto i = static_cast<size_t>(key++);
        actions.add({.id = std::string("view.workspace_") + workspace_id(workspace),
                     .name = std::string("Workspace ") + workspace_name(workspace),
                     .sentence = sentences[i],
                     .icon = icons[i],
                     .shortcut = std::to_string(key),
                     .menu = "View",
                     .run = [workspace](ViewState& ui) { ui.workspace = workspace; }});
    }
}

void add_theme_actions(Actions& actions) {
    const std::tuple<const char*, const char*, const char*, ThemeName> themes[] = {
        {"view.theme_dark", "Theme dark", "Dark frame, ember maps with a dark centre.",
         ThemeName::dark},
        {"view.theme_light", "Theme light", "Light frame, ember maps with a light centre.",
         ThemeName::light},
        {"view.theme_high_contrast", "Theme high contrast",
         "Black and white frame with outlined controls.", ThemeName::high_contrast}};
    for (const auto& [id, name, sentence, theme] : themes)
        actions.add({.id = id,
                     .name = name,
                     .sentence = sentence,
                     .icon = icon::contrast,
                     .run = [theme = theme](ViewState& ui) { ui.settings.theme = theme; }});
    actions.add({.id = "view.next_theme",
                 .name = "Next theme",
                 .sentence = "Dark, light, high contrast in turn.",
                 .icon = icon::contrast,
                 .menu = "View",
                 .run = [](ViewState& ui) {
                     const int next = (static_cast<int>(ui.settings.theme) + 1) % 3;
                     ui.settings.theme = static_cast<ThemeName>(next);
                 }});
    actions.add({.id = "view.zoom_in",
                 .name = "Larger",
                 .sentence = "Makes everything in the window larger.",
                 .icon = icon::zoom_in,
                 .shortcut = "Ctrl+=",
                 .menu = "View",
                 .run = [](ViewState& ui) { zoom(ui, 1); }});
    actions.add({.id = "view.zoom_out",
                 .name = "Smaller",
                 .sentence = "Makes everything in the window smaller.",
                 .icon = icon::zoom_out,
                 .shortcut = "Ctrl+-",
                 .menu = "View",
                 .run = [](ViewState& ui) { zoom(ui, -1); }});
    actions.add({.id = "view.zoom_reset",
                 .name = "Normal size",
                 .sentence = "The size that fits the display.",
                 .icon = icon::fit,
                 .shortcut = "Ctrl+0",
                 .menu = "View",
                 .run = [](ViewState& ui) { ui.settings.zoom = 1; }});
}

void add_layout_actions(Actions& actions, FrameTools& tools) {
    actions.add({.id = "view.side_panes",
                 .name = "Hide or show side panes",
                 .sentence = "Gives the canvas the whole width.",
                 .icon = icon::swap,
                 .shortcut = "Tab",
                 .menu = "View",
                 .run = [&tools](Ui&) { tools.side_hidden = !tools.side_hidden; }});
    actions.add({.id = "view.next_pane",
                 .name = "Next pane",
                 .sentence = "Takes the keyboard to the next pane; arrows move inside it, Space "
                             "and Enter press, Esc leaves.",
                 .icon = icon::keyboard,
                 .shortcut = "Ctrl+Tab",
                 .menu = "View",
                 .run = [](Ui&) { focus_pane(1); }});
    actions.add({.id = "view.previous_pane",
                 .name = "Previous pane",
                 .sentence = "Takes the keyboard to the pane before.",
                 .icon = icon::keyboard,
                 .shortcut = "Ctrl+Shift+Tab",
                 .run = [](Ui&) { focus_pane(-1); }});
    actions.add({.id = "view.reset_layout",
                 .name = "Reset layout",
                 .sentence = "Puts the panes of this workspace back where they were at first.",
                 .icon = icon::grid,
                 .menu = "View",
                 .run = [&tools](Ui&) { tools.reset_layout = true, tools.side_hidden = false; }});
    actions.add({.id = "view.log",
                 .name = "Show log",
                 .sentence = "Brings the log to the front and marks errors as read.",
                 .icon = icon::terminal,
                 .menu = "Help",
                 .run = [&tools](Ui& ui) {
                     ui.toasts.mark_read();
                     if (ui.workspace == Workspace::home || ui.workspace == Workspace::complete)
                         ui.workspace = Workspace::train;
                     tools.side_hidden = false;
                     tools.focus_panes = {"log"};
                     tools.rail_open = "log";
                 }});
}

}  // namespace

void add_frame_actions(Actions& actions, FrameTools& tools) {
    add_file_actions(actions);
    add_workspace_actions(actions);
    add_theme_actions(actions);
    add_layout_actions(actions, tools);
    actions.add({.id = "view.command_palette",
                 .name = "Command palette",
                 .sentence = "Finds any action by its name.",
                 .icon = icon::search,
                 .shortcut = "Ctrl+Shift+P",
                 .menu = "View",
                 .run = [&tools](Ui&) { tools.palette.open(); }});
    actions.add({.id = "help.keys",
                 .name = "Keys and help",
                 .sentence = "All keys, and what the panes of this workspace show.",
                 .icon = icon::keyboard,
                 .shortcut = "F1",
                 .menu = "Help",
                 .run = [&tools](Ui&) { tools.shortcuts.toggle(); }});
}

}  // namespace aft::app
