#include "app/panels/compare/slots_command.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/panels/shared/compare_command.h"
#include "core/text.h"
#include "model/model_files.h"

namespace aft::app {
namespace {

const std::string& path_of(const ViewState& ui, const ComparedSlot& slot) {
    return slot.choice.is_open() ? ui.status.path : slot.choice.path;
}

// Why no command reads what this slot shows; "" = one does.
std::string why_not_read(const ViewState& ui, const ComparedSlot& slot) {
    if (path_of(ui, slot).empty()) return slot.letter + " has no folder yet.";
    if (!slot.choice.recipe.is_untouched())
        return fmt::format(
            "{} is after interventions: save them as a recipe and give it with --recipe-a or "
            "--recipe-b.",
            slot.letter);
    if (is_checkpoint_file(path_of(ui, slot))) return "";  // it has one step
    if (std::find(slot.steps.begin(), slot.steps.end(), slot.step) == slot.steps.end())
        return fmt::format("Step {} of {} is not stored. Scrub to a stored step.",
                           group_thousands(slot.step), slot.letter);
    return "";
}

const char* view_option(CompareView view) {
    if (view == CompareView::difference) return "difference";
    return view == CompareView::ratio ? "ratio" : "both";
}

}  // namespace

CopiedCommand slots_command(const ViewState& ui, const CompareSlots& slots,
                            const ShownMaps& shown) {
    const CompareChoice& compare = ui.selection.compare;
    if (compare.other >= slots.size()) return {"", "There is nothing to compare with."};
    const ComparedSlot &a = slots.at(0), &b = slots.at(compare.other);
    if (std::string why = why_not_comparable(a, b); !why.empty()) return {"", why};
    if (b.is_matching) return {"", "Its layers are being matched."};
    for (const ComparedSlot* const slot : {&a, &b})
        if (std::string why = why_not_read(ui, *slot); !why.empty()) return {"", why};
    if (layer_block(*a.form) > 1 || layer_block(*b.form) > 1)
        return {"",
                "The tables are of means over blocks here: afterimage compare gives the exact "
                "ones, and with --blocks those of blocks."};
    MapsToCompare maps{.a = path_of(ui, a), .b = path_of(ui, b)};
    maps.step_a = a.step;
    maps.step_b = b.step;
    maps.layer = shown.layer();
    if (a.form->heads > 1) maps.head = shown.at(0).head;
    if (b.form->heads > 1 && b.choice.head >= 0) maps.head_b = shown.at(compare.other).head;
    maps.quantity = ui.selection.quantity;
    maps.gauge = ui.selection.gauge;
    maps.is_kernel = a.form->is_kernel();
    maps.matches = compare.matches;
    maps.matches_layers = compare.matches_layers;
    maps.view = view_option(compare.view);
    maps.file = maps.view == "both" ? "maps.npy" : maps.view + ".npy";
    return {.command = compare_command(maps),
            .why_not = {},
            .note = fmt::format("Of A and {}. With --json all tables as one object; curves: "
                                "afterimage metrics of each run.",
                                b.letter)};
}

}  // namespace aft::app
