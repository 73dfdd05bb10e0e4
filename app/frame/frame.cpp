#include "app/frame/frame.h"

#include <imgui_internal.h>
#include <implot.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <limits>
#include <utility>

#include "app/frame/frame_state.h"
#include "app/frame/guard.h"
#include "app/state/data_place.h"
#include "core/outside.h"
#include "core/system/heap.h"

namespace aft::app {

const char* workspace_name(Workspace workspace) {
    static constexpr const char* kNames[] = {"Home",     "Train",   "Biases", "Attention",
                                             "Complete", "Compare", "Lab"};
    return kNames[static_cast<int>(workspace)];
}

namespace {

double ms_since(std::chrono::steady_clock::time_point start) {
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
        .count();
}

}  // namespace

Frame::Frame(FrameOptions options) : parts_(std::make_unique<Parts>(std::move(options))) {
    Parts& p = *parts_;
    enable_recovery();
    Ui& ui = p.ui;
    ui.headless = p.options.headless;
    ui.has_gl = p.options.painter != nullptr;
    std::string problem;
    if (!p.options.settings_file.empty())
        ui.settings = load_user_settings(p.options.settings_file, problem);
    if (!problem.empty()) ui.say("warning", problem);
    ui.fonts = load_fonts(*ImGui::GetIO().Fonts);
    for (const std::string& name : ui.fonts.missing)
        ui.say("warning", "font not found: " + name + "; another one is used");
    ImGui::GetIO().IniFilename = nullptr;
    if (!ui.settings.layout.empty()) ImGui::LoadIniSettingsFromMemory(ui.settings.layout.c_str());
    add_frame_actions(ui.actions, p.tools);
    add_data_actions(ui.actions);
    add_run_actions(ui.actions);
    add_selection_actions(ui.actions, p.tools);
    const auto& rooms = p.options.rooms != nullptr ? *p.options.rooms : panels();
    for (const PanelRoom& room : rooms) {
        p.panes.push_back({.room = &room, .panel = room.make(), .problem = {}});
        p.panes.back().panel->actions(ui.actions);
    }
}

Frame::~Frame() {
    for (const Loss& loss : end_sessions())  // nobody asked before
        fmt::print(stderr, "afterimage: {}: {}\n", printable(loss.what()), printable(loss.reason));
}

Ui& Frame::ui() {
    return parts_->ui;
}

void Frame::open(const std::string& path) {
    parts_->ui.open(path);
}

void Frame::open_run(OpenRequest request) {
    parts_->ui.open_request = std::make_shared<OpenRequest>(std::move(request));
}

void Frame::set_display_scale(float scale) {
    parts_->options.display_scale = scale;
}

int Frame::frames_wanted() const {
    return parts_->ui.frames_wanted;
}

std::string Frame::dump() const {
    const Ui& ui = parts_->ui;
    return dump_text(ui.recorder, ui.stats.frames, workspace_name(ui.workspace),
                     ImGui::GetIO().DisplayFramebufferScale.x);
}

std::optional<Loss> Frame::save_session() {
    return parts_->session ? save_before_end(*parts_->session) : std::nullopt;
}

std::vector<Loss> Frame::end_sessions() {
    parts_->let_go_of_session();
    parts_->closing.clear();  // waits for them
    return parts_->losses->take();
}

void Frame::save_settings() {
    Parts& p = *parts_;
    if (p.options.settings_file.empty()) return;
    p.ui.settings.layout = ImGui::SaveIniSettingsToMemory();
    p.ui.settings.layout_scale = p.applied_scale;
    save_user_settings(p.options.settings_file, p.ui.settings);
}

void Frame::prepare(double seconds) {
    Parts& p = *parts_;
    p.frame_start = std::chrono::steady_clock::now();
    p.ui.time = seconds;
    p.ui.frames_wanted = std::max(0, p.ui.frames_wanted - 1);
    p.ui.next_frame_at = std::numeric_limits<double>::infinity();
    p.take_wishes();
    p.take_news();
    p.warnings.tell(p.ui);
    p.tell_losses();
    p.take_theme();
    p.load_image();
    p.tools.timeline.advance(p.ui);
}

void Frame::Parts::take_theme() {
    const auto scale = options.display_scale * static_cast<float>(ui.settings.zoom);
    if (applied_theme == ui.settings.theme && applied_scale == scale) return;
    const float before =
        applied_scale > 0 ? applied_scale : static_cast<float>(ui.settings.layout_scale);
    if (before > 0 && before != scale) scale_layouts(scale / before);
    applied_theme = ui.settings.theme;
    applied_scale = scale;
    ui.theme = make_theme(applied_theme, scale);
    apply_theme(ui.theme);
    ui.look = {.colors = &viz::theme_colors(applied_theme),
               .scale = scale,
               .regular = ui.fonts.regular,
               .medium = ui.fonts.medium,
               .semibold = ui.fonts.semibold,
               .mono = ui.fonts.mono,
               .painter = options.painter};
    ui.want_frames(2);
}

// The session may need a step to end; nobody waits for it here. What it held goes back to the
// system, also from between blocks of the next one.
void Frame::Parts::let_go_of_session() {
    if (session) {
        session->stop_completion();
        closing.emplace_back([old = std::shared_ptr<Session>(std::move(session)), box = losses,
                              wake = options.wake]() mutable {
            const std::optional<Loss> loss = save_before_end(*old);
            old.reset();
            if (loss) box->put(*loss);
            if (loss) wake();
            trim_heap();
        });
    }
    session = nullptr;
    ui.session = nullptr;
    ui.selection.image = {};
    remembered.clear();
}

void Frame::Parts::tell_losses() {
    for (const Loss& loss : losses->take()) {
        ui.toasts.add({.kind = ToastKind::error, .title = loss.what(), .detail = loss.reason});
        ui.say("error", loss.what() + ": " + loss.reason);
    }
}

void Frame::Parts::close_session() {
    let_go_of_session();
    ui.status = {};
    ui.curves = std::make_shared<Curves>();
    ui.history.clear();
}

void Frame::Parts::replace_session(OpenRequest request) {
    let_go_of_session();
    ui.selection.step = -1;
    ui.selection.unlock();
    ui.selection.pins.clear();
    ui.selection.completion.own_id = 0;
    ui.selection.completion.own = nullptr;
    request.device = options.device;
    session = std::make_unique<Session>(std::move(request), options.wake);
    ui.session = session.get();
    session->set_share(ui.settings.trainer_share);
    last_error.clear();
    last_message.clear();
    last_rewinds = 0;
    missing_data.clear();
}

void Frame::Parts::take_wishes() {
    ui.input_seen = false;
    if (ui.browse || ui.browse_data) tools.browser.open(ui, ui.browse_data);
    ui.browse = ui.browse_data = false;
    if (std::exchange(ui.close_model, false)) close_session();
    if (auto request = std::exchange(ui.open_request, nullptr)) {
        replace_session(std::move(*request));
        ui.workspace = Workspace::train;
    }
    std::vector<std::pair<std::string, Opening>> found;
    for (const std::string& path : std::exchange(ui.open_paths, {}))
        found.emplace_back(path, classify_path(path, true));
    // A picture that comes with a model is for it; of several models the last is opened.
    const auto rest = std::stable_partition(found.begin(), found.end(), [](const auto& one) {
        return one.second.kind == Opening::model;
    });
    if (rest - found.begin() > 1) found.erase(found.begin(), rest - 1);
    for (const auto& [path, opening] : found) open_one(path, opening);
}

void Frame::Parts::open_one(const std::string& path, Opening opening) {
    if (opening.kind == Opening::picture) opening = classify_path(path, ui.session != nullptr);
    switch (opening.kind) {
        case Opening::picture:
            ui.selection.image = {
                .split = "", .index = 0, .path = path, .item = nullptr, .error = {}};
            if (ui.workspace != Workspace::attention) ui.workspace = Workspace::complete;
            break;
        case Opening::model:
            replace_session({.path = path, .config = {}, .out = {}});
            ui.settings.remember(recent_item(path));
            if (ui.workspace == Workspace::home) ui.workspace = opening.workspace;
            break;
        case Opening::impossible:
            ui.toasts.add(
                {.kind = ToastKind::error, .title = "Not opened", .detail = opening.words});
            ui.say("error", opening.words);
            break;
    }
    ui.want_frames(3);
}

// Once per session and place, when it is known what was opened or begun: training a file makes a
// run of it.
void Frame::Parts::remember_open() {
    if (remembered == ui.status.path || !ui.has_model()) return;
    remembered = ui.status.path;
    RecentItem item = recent_item(ui.status.path);
    const Config& config = ui.status.config;
    item.what = fmt::format("{}, {}, {} layers",
                            config.data.source.substr(0, config.data.source.find_first_of(":?")),
                            config.model.mixer, config.model.layers);
    ui.settings.remember(std::move(item));
}

void Frame::Parts::take_news() {
    if (options.feed) {
        options.feed(ui);
    } else if (session) {
        ui.status = session->status();
        if (auto curves = session->curves()) ui.curves = std::move(curves);
        ui.history = session->history_steps();
        CompletionChoice& choice = ui.selection.completion;
        const auto completion = session->completion();
        if (completion && completion->id == choice.own_id) choice.own = completion;
        remember_open();
    }
    const Status& status = ui.status;
    if (!status.error.empty() && status.error != last_error) {
        ui.toasts.add({.kind = ToastKind::error, .title = status.error});
        ui.say("error", status.error);
    }
    if (!status.message.empty() && status.message != last_message) ui.say("info", status.message);
    if (status.rewinds > std::exchange(last_rewinds, status.rewinds)) tell_rewind(ui);
    last_error = status.error;
    last_message = status.message;
    if (ui.has_model()) ui.selection.clamp(status, std::max<int64_t>(1, status.mixer.heads));
    ui.selection.hover.reset();
}

void Frame::Parts::load_image() {
    ImageChoice& image = ui.selection.image;
    if (session == nullptr || image.item || !ui.has_model()) return;
    Session::ItemError error;
    image.item = image.path.empty() ? session->data_item(image.split, image.index, &error)
                                    : session->image_item(image.path, &error);
    image.error = error.words;
    image.is_part_empty = error.is_part_empty;
    if (image.item && image.split.empty()) image.split = image.item->split;
    if (image.error.empty() || !image.path.empty()) return;
    const std::string& source = ui.status.config.data.source;
    if (std::exchange(missing_data, source) != source) (void)use_remembered_data(ui);
}

void Frame::draw() {
    Parts& p = *parts_;
    Ui& ui = p.ui;
    const ImVec2 display = ImGui::GetIO().DisplaySize;
    ui.recorder.begin_frame();
    p.handle_keys();
    draw_top_bar(ui, frame_areas(ui, display, false), display);
    // The top bar may have chosen another workspace: what follows is of one and the same.
    const bool has_timeline = ui.workspace != Workspace::home;
    const FrameAreas areas = frame_areas(ui, display, has_timeline);
    if (areas.rail > 0) p.draw_rail(areas);
    p.draw_panes(areas);
    if (has_timeline) p.tools.timeline.draw(ui, areas, display);
    draw_status_bar(ui, areas, display);
    ui.recorder.set_pane("Toasts");
    ui.toasts.draw(ui);
    p.draw_overlays(display);
    ui.recorder.end_frame();
    if (std::exchange(p.last_workspace, ui.workspace) != ui.workspace) ui.want_frames(3);
}

void Frame::finish() {
    parts_->measure();
}

double Frame::next_frame_at() const {
    return parts_->ui.next_frame_at;
}

void Frame::Parts::handle_keys() {
    const bool types = ImGui::GetIO().WantTextInput;
    // Tab hides the side panes; Dear ImGui would move the keyboard with it.
    if (!types) ImGui::SetKeyOwner(ImGuiKey_Tab, ImHashStr("frame"));
    ui.selection.flicker = !types && ImGui::IsKeyDown(ImGuiKey_H);
    // Esc first closes the menu or list that stands open.
    const int open = ImGui::GetCurrentContext()->OpenPopupStack.Size;
    if (open > 0 && !types && ImGui::IsKeyPressed(ImGuiKey_Escape, false)) {
        ImGui::ClosePopupToLevel(open - 1, true);
        return;
    }
    if (!tools.palette.is_open() && !tools.browser.is_open()) ui.actions.handle_keys(ui);
}

void Frame::Parts::measure() {
    ui.stats.draw_ms = ms_since(frame_start);
    ++ui.stats.frames;
    frame_times.push_back(ui.stats.draw_ms);
    if (frame_times.size() > 256) frame_times.pop_front();
    std::vector<double> sorted(frame_times.begin(), frame_times.end());
    const size_t at = sorted.size() * 95 / 100;
    std::nth_element(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(at),
                     sorted.end());
    ui.stats.p95_ms = sorted[at];
    ui.stats.longest_ms = *std::max_element(frame_times.begin(), frame_times.end());
}

std::vector<Action> all_actions() {
    Actions actions;
    FrameTools tools;
    add_frame_actions(actions, tools);
    add_data_actions(actions);
    add_run_actions(actions);
    add_selection_actions(actions, tools);
    for (const PanelRoom& room : panels()) room.make()->actions(actions);
    std::vector<Action> list = actions.all();
    for (Action& action : list)
        action.run = {}, action.why_not = {};  // nothing behind them lives on
    return list;
}

}  // namespace aft::app
