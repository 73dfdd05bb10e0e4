// Actions on the one selection and on time: layer, head, quantity, range, gauge, pin, scrubbing,
// Esc.
#include "app/frame/selection_actions.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/frame/frame_tools.h"
#include "app/panels/shared/completion_readings.h"
#include "app/state/step_notes.h"
#include "app/state/undo_notes.h"

namespace aft::app {

namespace {

std::string needs_open_model(const ViewState& ui) {
    return ui.has_model() ? "" : "No model is open.";
}

std::string needs_moments(const ViewState& ui) {
    if (!ui.has_model()) return "No model is open.";
    return ui.history.empty() ? "No moments are stored yet." : "";
}

std::string needs_pin(const ViewState& ui) {
    if (!ui.has_model()) return "No model is open.";
    return ui.selection.pins.empty() ? "Nothing is pinned. P pins." : "";
}

std::string needs_read_out(const DrawContext& ui) {
    const bool is_shown = ui.stats.frames - ui.read_out.frame <= 1 && !ui.read_out.text.empty();
    return is_shown ? "" : "Nothing is read here. Point at a map in Biases, Attention or Complete.";
}

void move_layer(ViewState& ui, int64_t by) {
    const auto layers = static_cast<int64_t>(ui.status.layers.size());
    if (layers == 0) return;
    ui.selection.cell.layer = std::clamp<int64_t>(ui.selection.cell.layer + by, 0, layers - 1);
}

void move_head(ViewState& ui, int64_t by) {
    const int64_t heads = std::max<int64_t>(1, ui.status.mixer.heads);
    ui.selection.cell.head = std::clamp<int64_t>(ui.selection.cell.head + by, 0, heads - 1);
}

void next_quantity(PaneContext& ui) {
    const int next = (static_cast<int>(ui.selection.quantity) + 1) % 4;
    ui.selection.quantity = static_cast<Quantity>(next);
    ui.selection.range_by_hand.reset();
}

// Esc: first a running completion, then the lock.
void stop_or_unlock(PaneContext& ui, FrameTools& tools) {
    if (!tools.rail_open.empty()) {
        tools.rail_open.clear();
        return;
    }
    if (ui.session != nullptr && is_completing(ui)) {
        ui.commands.send(StopCompletion{});
        return;
    }
    ui.selection.unlock();
}

struct Simple {
    const char *id, *name, *sentence, *icon, *key;
    std::string (*why_not)(const ViewState&);
    void (*run)(PaneContext&);
};

constexpr Simple kSimple[] = {
    {"selection.previous_layer", "Previous layer", "Selects the layer before.", icon::layers, "[",
     needs_open_model, [](PaneContext& ui) { move_layer(ui, -1); }},
    {"selection.next_layer", "Next layer", "Selects the next layer.", icon::layers, "]",
     needs_open_model, [](PaneContext& ui) { move_layer(ui, 1); }},
    {"selection.previous_head", "Previous head", "Selects the head before.", icon::layers, "{",
     needs_open_model, [](PaneContext& ui) { move_head(ui, -1); }},
    {"selection.next_head", "Next head", "Selects the next head.", icon::layers, "}",
     needs_open_model, [](PaneContext& ui) { move_head(ui, 1); }},
    {"map.next_quantity", "Next quantity", "Shows w, exp(w)\u22121, exp(w) or row share in turn.",
     icon::functions, "Q", needs_open_model, next_quantity},
    {"map.next_range_rule", "Next range rule",
     "Limits of a map from itself, its layer, or all layers.", icon::link, "N", needs_open_model,
     [](PaneContext& ui) {
         ui.selection.range_mode =
             static_cast<RangeMode>((static_cast<int>(ui.selection.range_mode) + 1) % 3);
     }},
    {"map.fit_range", "Fit range", "Sets both ends to the percentile limits of what is shown.",
     icon::fit, "R", needs_open_model, [](PaneContext& ui) { ui.selection.range_by_hand.reset(); }},
    {"map.switch_gauge", "Switch gauge", "Shows w raw, or with every row's free constant removed.",
     icon::swap, "G", needs_open_model,
     [](PaneContext& ui) {
         ui.selection.gauge = ui.selection.gauge == Gauge::fixed ? Gauge::raw : Gauge::fixed;
     }},
    {"map.switch_scale", "Switch scale",
     "Signed log keeps small and large values apart; linear compares sizes.", icon::chart, "L",
     needs_open_model,
     [](PaneContext& ui) {
         ui.selection.scale =
             ui.selection.scale == Scale::signed_log ? Scale::two_sided : Scale::signed_log;
     }},
    {"map.difference_to_pin", "Difference to pin", "Shows what has changed since the newest pin.",
     icon::compare, "D", needs_pin,
     [](PaneContext& ui) {
         ui.selection.difference_to_pin = !ui.selection.difference_to_pin;
         ui.selection.range_by_hand.reset();
     }},
    {"selection.pin", "Pin", "Keeps this place and step in the list of pins.", icon::pin, "P",
     needs_open_model,
     [](PaneContext& ui) {
         ui.selection.pin(ui.shown_weights());
         ui.commands.send(KeepCheckpoint{ui.shown_step()});
     }},
    {"selection.remove_pins", "Remove pins", "Empties the list of pins.", icon::trash, "",
     needs_pin, [](PaneContext& ui) {
         ui.selection.pins.clear();
         ui.selection.difference_to_pin = false;
         ui.selection.range_by_hand.reset();
     }}};

struct Named {
    const char *id, *name, *sentence;
};

void add_time_actions(Actions& actions, FrameTools& tools) {
    const auto scrub = [&](const Named& named, const char* key, int direction) {
        actions.add(
            {.id = named.id,
             .name = named.name,
             .sentence = named.sentence,
             .icon = icon::history,
             .shortcut = key,
             .why_not = needs_moments,
             .run = [&tools, direction](ViewState& ui) { tools.timeline.scrub(ui, direction); },
             .repeats = true});
    };
    scrub({"time.back", "Scrub back", "All views go to the stored moment before."}, "Left", -1);
    scrub({"time.forward", "Scrub forward", "All views go to the next stored moment."}, "Right", 1);
    scrub(
        {"time.back_always", "Back in time", "As scrub back, also while a field has the keyboard."},
        "Ctrl+Left", -1);
    scrub({"time.forward_always", "Forward in time",
           "As scrub forward, also while a field has the keyboard."},
          "Ctrl+Right", 1);
    actions.add({.id = "note.add",
                 .name = "Note at the shown step...",
                 .sentence = "Writes a note at the step that is shown, or changes the one that "
                             "stands there; its card takes any other step.",
                 .icon = icon::text,
                 .shortcut = "Shift+P",
                 .menu = "Run",
                 .why_not = needs_open_model,
                 .run = [](PaneContext& ui) { ui.note_asked = ui.shown_weights(); }});
    actions.add({.id = "time.first",
                 .name = "First moment",
                 .sentence = "All views go to the first stored moment.",
                 .icon = icon::first,
                 .shortcut = "Home",
                 .why_not = needs_moments,
                 .run = [&tools](ViewState& ui) { tools.timeline.go_first(ui); }});
    actions.add({.id = "time.live",
                 .name = "Go live",
                 .sentence = "All views follow training.",
                 .icon = icon::last,
                 .shortcut = "End",
                 .why_not = needs_open_model,
                 .run = [&tools](ViewState& ui) { tools.timeline.go_live(ui); }});
    actions.add({.id = "time.play",
                 .name = "Play through training",
                 .sentence = "Plays all views through the stored moments, or stops that.",
                 .icon = icon::play,
                 .why_not = needs_moments,
                 .run = [&tools](PaneContext& ui) { tools.timeline.toggle_play(ui); }});
}

}  // namespace

namespace {

void undo_change(Ui& ui, bool is_undo) {
    ChangeHistory& changes = ui.selection.changes;
    const auto change = is_undo ? changes.undo() : changes.redo();
    if (!change) return;
    if (const auto* const setting = std::get_if<SettingChange>(&change->of))
        ui.commands.send(SetSetting{setting->key, setting->after});
    if (const auto* const choice = std::get_if<ChoiceChange>(&change->of)) show_change(ui, *choice);
    if (const auto* const note = std::get_if<NoteChange>(&change->of))
        put_step_note(ui, note->step, note->after);
    ui.toasts.add({.kind = ToastKind::info,
                   .title = is_undo ? "Undo" : "Redo",
                   .detail = change_words(*change)});
}

constexpr const char* kUndone =
    "of a setting (also while training runs), of how maps are drawn, of "
    "sampling, of the pinned batch, of what is compared, or of a note "
    "at a step";

// All that ChangeHistory holds.
void add_setting_undo(Actions& actions) {
    for (const bool is_undo : {true, false})
        actions.add({.id = is_undo ? "setting.undo" : "setting.redo",
                     .name = is_undo ? "Undo change" : "Redo change",
                     .sentence = is_undo ? fmt::format("Takes back the last change {}.", kUndone)
                                         : fmt::format("Makes the change {} again.", kUndone),
                     .icon = is_undo ? icon::undo : icon::redo,
                     .why_not = [is_undo](const ViewState& ui) -> std::string {
                         const ChangeHistory& changes = ui.selection.changes;
                         if (is_undo && changes.next_undo() == nullptr)
                             return "Nothing was changed since this was opened.";
                         return !is_undo && changes.next_redo() == nullptr
                                    ? "Nothing was taken back."
                                    : "";
                     },
                     .run = [is_undo](Ui& ui) { undo_change(ui, is_undo); },
                     .repeats = true});
}

struct OwnHistory {
    bool has_undo = false, has_redo = false;
    double undo_time = 0, redo_time = 0;  // of the change that would be next
};

// The Lab's interventions and the strokes of the mask have a history of their own; where they are
// worked at the newer change comes first.
bool is_own_next(const ChangeHistory& changes, const OwnHistory& own, bool is_undo) {
    if (is_undo)
        return own.has_undo &&
               (changes.next_undo() == nullptr || own.undo_time >= changes.next_undo()->time);
    return own.has_redo &&
           (changes.next_redo() == nullptr || own.redo_time <= changes.next_redo()->time);
}

const char* next_target(const Ui& ui, bool is_undo) {
    const Selection& of = ui.selection;
    const RecipeHistory& lab = of.lab.history;
    const OwnHistory of_lab{lab.can_undo(), lab.can_redo(), lab.undo_time(), lab.redo_time()};
    if (ui.workspace == Workspace::lab && is_own_next(of.changes, of_lab, is_undo))
        return is_undo ? "lab.undo" : "lab.redo";
    const OwnHistory of_mask{ui.actions.why_not(ui, "mask.undo").empty(),
                             ui.actions.why_not(ui, "mask.redo").empty(),
                             undo_time(of.completion.mask), redo_time(of.completion.mask)};
    if (ui.workspace == Workspace::complete && is_own_next(of.changes, of_mask, is_undo))
        return is_undo ? "mask.undo" : "mask.redo";
    return is_undo ? "setting.undo" : "setting.redo";
}

// What is taken back or done again is up to the workspace.
void add_undo(Actions& actions) {
    for (const bool is_undo : {true, false})
        actions.add(
            {.id = is_undo ? "edit.undo" : "edit.redo",
             .name = is_undo ? "Undo" : "Redo",
             .sentence = is_undo
                             ? fmt::format("Takes back the last change: {}; in the Lab also of its "
                                           "interventions, in Complete a stroke of the mask.",
                                           kUndone)
                             : "Does the change again that was taken back.",
             .icon = is_undo ? icon::undo : icon::redo,
             .shortcut = is_undo ? "Ctrl+Z" : "Ctrl+Y",
             .why_not =
                 [is_undo](const Ui& ui) {
                     return ui.actions.why_not(ui, next_target(ui, is_undo));
                 },
             .run = [is_undo](Ui& ui) { (void)ui.actions.run(ui, next_target(ui, is_undo)); },
             .repeats = true});
}

}  // namespace

void add_selection_actions(Actions& actions, FrameTools& tools) {
    add_setting_undo(actions);
    add_undo(actions);
    for (const Simple& s : kSimple)
        actions.add({.id = s.id,
                     .name = s.name,
                     .sentence = s.sentence,
                     .icon = s.icon,
                     .shortcut = s.key,
                     .why_not = s.why_not,
                     .run = s.run});
    add_time_actions(actions, tools);
    actions.add({.id = "view.atlas_or_focus",
                 .name = "Atlas or focus",
                 .sentence = "Goes from the atlas of all maps to the chosen one, and back.",
                 .icon = icon::grid,
                 .shortcut = "M",
                 .why_not = needs_open_model,
                 .run = [&tools](ViewState& ui) {
                     ui.workspace = Workspace::biases;
                     tools.focus_panes = {tools.in_focus ? "atlas" : "focus"};
                     tools.in_focus = !tools.in_focus;
                 }});
    actions.add({.id = "map.copy_values",
                 .name = "Copy values",
                 .sentence = "Puts what the line below the map reads on the clipboard, every value "
                             "with all its digits.",
                 .icon = icon::copy,
                 .shortcut = "Ctrl+C",
                 .why_not = needs_read_out,
                 .run = [](Ui& ui) {
                     ImGui::SetClipboardText(ui.read_out.text.c_str());
                     ui.toasts.add({.kind = ToastKind::done,
                                    .title = "Values copied",
                                    .detail = ui.read_out.text});
                 }});
    actions.add({.id = "selection.unlock",
                 .name = "Stop or unlock",
                 .sentence = "Stops a running completion; else unlocks the selection.",
                 .icon = icon::unlock,
                 .shortcut = "Esc",
                 .run = [&tools](PaneContext& ui) { stop_or_unlock(ui, tools); }});
}

}  // namespace aft::app
