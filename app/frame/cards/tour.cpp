#include "app/frame/cards/tour.h"

#include <fmt/format.h>
#include <imgui_internal.h>

#include <algorithm>
#include <cmath>

#include "app/frame/cards/overlays.h"
#include "app/widgets/buttons.h"
#include "app/widgets/text.h"

namespace aft::app {

namespace {

// In a sentence {ID} is the key of that action, as it is now.
struct TourStop {
    Workspace workspace;
    const char *control, *title, *sentence;
};

constexpr TourStop kStops[] = {
    {Workspace::home, "home/main/file.new_run", "Runs begin here",
     "New run takes a preset and data; Open takes a run folder, a checkpoint or a picture. The "
     "demos need no download."},
    {Workspace::train, "run/run/primary", "Train, pause, continue",
     "The filled button starts and pauses. What is below in Controls can be changed while it "
     "runs."},
    {Workspace::train, "timeline/track/track", "Time for all views",
     "Drag along the track: every view shows that step. The button at its end follows training "
     "live."},
    {Workspace::biases, "atlas/main/tab", "What the model has learned about positions",
     "Atlas has the position biases of all layers and heads, Focus one of them. Point to read, "
     "click to lock, {selection.pin} to pin. Structure, Formation and Factors say what a head "
     "looks at, when it "
     "formed, and what it is made of."},
    {Workspace::attention, "attention/main/parts", "Where a target looks",
     "Point at a pixel or letter: what it attends to by its position bias alone, by content "
     "alone, and by both; below for every channel."},
    {Workspace::complete, "source/main/picture", "Fill in a picture",
     "Paint over what shall be drawn anew and press {complete.start}. Click a pixel of a sample to "
     "see "
     "what else it might have been."},
    {Workspace::compare, "compare/main/tab", "Runs beside each other",
     "Up to four steps, runs or checkpoints: their maps in one range, their difference, and what "
     "differs most."},
    {Workspace::lab, "interventions/main/lab.add", "Change it and see what that costs",
     "Take a bias away, blur it, lower its rank: the change of the loss stands beside it with its "
     "uncertainty."},
    {Workspace::home, "top_bar/tools/search_actions", "Everything by name",
     "{view.command_palette} finds every action. {help.keys} says what the panes show, and all "
     "keys."}};
constexpr int kStopCount = int(std::size(kStops));

std::string with_keys(const Actions& actions, std::string sentence) {
    for (size_t open = sentence.find('{'); open != std::string::npos; open = sentence.find('{')) {
        const size_t close = sentence.find('}', open);
        const std::string id = sentence.substr(open + 1, close - open - 1);
        const std::string key = keys_of(actions, id);
        const Action* const action = actions.find(id);
        sentence.replace(open, close - open + 1,
                         !key.empty()        ? key
                         : action != nullptr ? "\"" + action->name + "\""
                                             : id);
    }
    return sentence;
}

const WidgetRecord* find_control(const DrawContext& ui, const char* id) {
    for (const WidgetRecord& widget : ui.recorder.last())
        if (widget.visible && widget.path.id == id) return &widget;
    return nullptr;
}

// Below the control where there is space, else above it or at its side.
ImVec2 card_place(ImVec2 size, ImVec2 display, const WidgetRecord* control, float gap) {
    if (control == nullptr)
        return {std::floor((display.x - size.x) / 2), std::floor((display.y - size.y) / 2)};
    float y = control->max.y + gap;
    if (y + size.y > display.y) y = control->min.y - gap - size.y;
    float x = control->min.x;
    if (y < 0) {  // the control is as tall as the window
        y = (control->min.y + control->max.y - size.y) / 2;
        x = control->max.x + gap + size.x < display.x ? control->max.x + gap
                                                      : control->min.x - gap - size.x;
    }
    return {std::floor(std::clamp(x, gap, std::max(gap, display.x - size.x - gap))),
            std::floor(std::clamp(y, gap, std::max(gap, display.y - size.y - gap)))};
}

}  // namespace

void Tour::start(Ui& ui) {
    ui.settings.tour_done = true;   // Home need not offer it any more
    ImGui::MarkIniSettingsDirty();  // the settings are written soon
    if (!ui.has_model()) (void)ui.actions.run(ui, "file.open_demo");
    go(ui, 0);
}

void Tour::go(PaneContext& ui, int stop) {
    stop_ = stop;
    if (stop >= kStopCount) return close();
    ui.commands.send(ShowWorkspace{kStops[stop].workspace});
    ui.want_frames(3);
}

void Tour::draw(Ui& ui, ImVec2 display) {
    if (!is_open()) return;
    if (ImGui::IsKeyPressed(ImGuiKey_Escape, false)) return close();
    const WidgetRecord* const control = find_control(ui, kStops[stop_].control);
    if (control != nullptr) {
        const float around = ui.px(4);
        ImGui::GetForegroundDrawList()->AddRect({control->min.x - around, control->min.y - around},
                                                {control->max.x + around, control->max.y + around},
                                                ui.theme.accent, ui.px(6), 0, ui.px(2));
    }
    draw_card(ui, display, control);
}

void Tour::draw_card(Ui& ui, ImVec2 display, const WidgetRecord* control) {
    const TourStop& stop = kStops[stop_];
    const ImVec2 size = {std::min(ui.px(420), display.x - ui.px(24)), ui.px(176)};
    const BarScope card("Tour card", {.at = card_place(size, display, control, ui.px(12)),
                                      .size = size,
                                      .ground = ui.theme.raised,
                                      .padding = {ui.px(16), ui.px(12)}});
    ImGui::BringWindowToDisplayFront(ImGui::GetCurrentWindow());
    const ImVec2 corner = ImGui::GetWindowPos();
    ImGui::GetWindowDrawList()->AddRect(corner, {corner.x + size.x, corner.y + size.y},
                                        ui.theme.strong, 0);
    text(ui, stop.title, {text_size::empty, ui.theme.text1, Face::semibold});
    const std::string sentence = with_keys(ui.actions, stop.sentence);
    text_wrapped(ui, sentence, text_size::label, ui.theme.text2);
    ui.recorder.item("value", ui.recorder.claim("Sentence##sentence"), sentence);
    ui.recorder.item("value", ui.recorder.claim("Stop##stop"),
                     fmt::format("{} of {}: {}", stop_ + 1, kStopCount, stop.title));
    ui.recorder.item("value", ui.recorder.claim("Control##control"),
                     control != nullptr ? "shown" : "not on the screen");
    ImGui::SetCursorPosY(size.y - ui.px(44));
    text(ui, fmt::format("{} of {}", stop_ + 1, kStopCount), {text_size::hint, ui.theme.text3});
    ImGui::SameLine(size.x - ui.px(16 + 244));
    ImGui::SetCursorPosY(size.y - ui.px(46));
    const int now = stop_;
    if (button(ui, {.name = "Close##close",
                    .kind = ButtonKind::ghost,
                    .tip = "Ends the tour; Help starts it again.",
                    .width = 72,
                    .height = 32}))
        close();
    ImGui::SameLine(0, ui.px(8));
    if (button(ui, {.name = "Back##back",
                    .why_not = now == 0 ? "This is the first stop." : "",
                    .tip = "The stop before.",
                    .width = 72,
                    .height = 32}))
        go(ui, now - 1);
    ImGui::SameLine(0, ui.px(8));
    if (button(ui, {.name = "Next##next",
                    .kind = ButtonKind::primary,
                    .tip = "The next stop.",
                    .width = 84,
                    .height = 32,
                    .shown = now + 1 == kStopCount ? "Done" : "Next"}))
        go(ui, now + 1);
}

void add_tour_actions(Actions& actions, Tour& tour) {
    actions.add({.id = "help.tour",
                 .name = "Take the tour",
                 .sentence = "Goes from control to control and says what each is for.",
                 .icon = icon::eye,
                 .menu = "Help",
                 .run = [&tour](Ui& ui) { tour.start(ui); }});
}

}  // namespace aft::app
