#include "app/panels/compare/compare_actions.h"

#include <algorithm>

#include "core/nearest_step.h"
#include "core/text.h"
#include "model/model_files.h"

namespace aft::app {

namespace {

std::string needs_free_slot(const ViewState& ui) {
    return ui.selection.compare.slots.size() < CompareChoice::kMostSlots
               ? ""
               : "Four slots are compared at most.";
}

std::string needs_stored_steps(const ViewState& ui) {
    if (!ui.has_model()) return "No run is open.";
    if (is_checkpoint_file(ui.status.path)) return "A checkpoint holds one step. Add a slot.";
    if (ui.history.empty()) return "No step of this run is stored yet.";
    return needs_free_slot(ui);
}

std::string needs_shown_step(const ViewState& ui) {
    if (std::string why = needs_stored_steps(ui); !why.empty()) return why;
    return ui.selection.step < 0 ? "Scrub the timeline to a stored step first." : "";
}

std::string needs_two_slots(const ViewState& ui) {
    return ui.selection.compare.slots.size() >= 2 ? "" : "There is one slot. Add another one.";
}

std::string needs_slots(const ViewState& ui) {
    return ui.selection.compare.slots.empty() ? "There are no slots." : "";
}

std::string needs_lab_list(const ViewState& ui) {
    if (!ui.has_model()) return "No model is open.";
    if (ui.selection.lab.active().is_untouched())
        return "The Lab has no intervention that is on. Add one there first.";
    return needs_free_slot(ui);
}

// What is open, beside itself after the Lab's interventions.
void add_lab(PaneContext& ui) {
    CompareChoice& compare = ui.selection.compare;
    if (compare.slots.empty()) (void)compare.add({});
    (void)compare.add({.recipe = ui.selection.lab.active()});
    compare.other = compare.slots.size() - 1;
    ui.commands.send(ShowWorkspace{Workspace::compare});
}

void add_stored(PaneContext& ui, int64_t step) {
    CompareChoice& compare = ui.selection.compare;
    const CompareSlot slot{.path = ui.status.path, .step = step};
    if (compare.slots.empty()) (void)compare.add({});
    // The earlier one first: the difference is what has come since.
    if (compare.slots.size() == 1 && compare.slots.front().is_open())
        compare.slots.insert(compare.slots.begin(), slot);
    else
        (void)compare.add(slot);
    compare.other = compare.slots.size() - 1;
    ui.commands.send(ShowWorkspace{Workspace::compare});
}

// Of the newest pin, else the first stored one: what has changed since then.
void add_step(PaneContext& ui) {
    const auto& pins = ui.selection.pins;
    add_stored(ui, pins.empty() ? ui.history.front() : nearest_step(ui.history, pins.back().step));
}

// The shown step stays in a slot of its own, and all views go live again.
void add_shown(PaneContext& ui) {
    add_stored(ui, nearest_step(ui.history, ui.selection.step));
    ui.commands.send(ShowStep{-1});
}

void swap_slots(ViewState& ui) {
    std::vector<CompareSlot>& slots = ui.selection.compare.slots;
    std::swap(slots.front(), slots[std::min(ui.selection.compare.other, slots.size() - 1)]);
}

}  // namespace

void add_compare_actions(Actions& actions, const std::function<void()>& open_list) {
    actions.add({.id = "compare.add_step",
                 .name = "Compare with another step",
                 .sentence = "Sets the newest pinned step, else the first stored one, beside what "
                             "is open.",
                 .icon = icon::history,
                 .why_not = needs_stored_steps,
                 .run = add_step});
    actions.add({.id = "compare.with_shown",
                 .name = "Compare with the shown step",
                 .sentence = "Sets the step that the timeline shows beside the newest one.",
                 .icon = icon::compare,
                 .why_not = needs_shown_step,
                 .run = add_shown});
    actions.add({.id = "compare.with_lab",
                 .name = "Compare with what the Lab shows",
                 .sentence = "Sets the biases after the Lab's interventions beside what is open.",
                 .icon = icon::flask,
                 .why_not = needs_lab_list,
                 .run = add_lab});
    actions.add({.id = "compare.add_slot",
                 .name = "Add a slot to compare",
                 .sentence = "Chooses another step, run or checkpoint to be compared.",
                 .icon = icon::plus,
                 .why_not = needs_free_slot,
                 .run = [open_list](Ui& ui) {
                     ui.commands.send(ShowWorkspace{Workspace::compare});
                     open_list();
                 }});
    actions.add({.id = "compare.swap",
                 .name = "Swap the compared slots",
                 .sentence = "The first slot and the one that it is compared with change places.",
                 .icon = icon::swap,
                 .why_not = needs_two_slots,
                 .run = swap_slots});
    actions.add({.id = "compare.next_view",
                 .name = "Next comparison view",
                 .sentence = "Side by side, flicker, split line, difference and ratio in turn.",
                 .icon = icon::compare,
                 .why_not = needs_two_slots,
                 .run = [](Ui& ui) {
                     CompareView& view = ui.selection.compare.view;
                     view = static_cast<CompareView>((static_cast<int>(view) + 1) % 5);
                 }});
    actions.add({.id = "compare.next_table",
                 .name = "Next comparison table",
                 .sentence = "Largest changes, layers, heads, curves and settings in turn.",
                 .icon = icon::grid,
                 .why_not = needs_two_slots,
                 .run = [](Ui& ui) {
                     int& lower = ui.selection.compare.lower;
                     lower = (lower + 1) % 5;
                 }});
    actions.add({.id = "compare.clear",
                 .name = "Remove all slots",
                 .sentence = "Takes all slots out of the comparison.",
                 .icon = icon::trash,
                 .why_not = needs_slots,
                 .run = [](Ui& ui) { ui.selection.compare.slots.clear(); }});
}

}  // namespace aft::app
