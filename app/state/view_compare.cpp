#include "app/state/view_compare.h"

#include "app/state/view_keys.h"
#include "core/caught.h"
#include "model/jobs/recipe.h"

namespace aft::app {
namespace {

using nlohmann::json;

constexpr const char* kCompareViews[] = {"side-by-side", "flicker", "split", "difference", "ratio"};
constexpr const char* kComparedParts[] = {"changes", "layers", "heads", "curves", "settings"};

json view_slot_to_json(const CompareSlot& slot) {
    json out{{"path", slot.path}, {"step", slot.step}, {"head", slot.head}};
    if (slot.recipe.interventions.empty()) return out;
    out["recipe"] = json(recipe_json(slot.recipe));
    if (!slot.recipe_name.empty()) out["recipe_name"] = slot.recipe_name;
    return out;
}

CompareSlot view_slot_of(const json& one) {
    const ViewKeys of(one, "compare.slots");
    CompareSlot slot;
    of.take("path", slot.path);
    of.take("step", slot.step, kViewIndices);
    of.take("head", slot.head, kViewIndices);
    of.take("recipe_name", slot.recipe_name);
    if (of.has("recipe"))
        slot.recipe =
            with_context("compare.slots.recipe", [&] { return parse_recipe(of.raw("recipe")); });
    return slot;
}

void take_slots(const ViewKeys& keys, CompareChoice& compare) {
    if (!keys.has("slots")) return;
    const json& slots = keys.raw("slots");
    if (!slots.is_array() || slots.size() > CompareChoice::kMostSlots)
        fail("compare.slots: found {}, allowed: a list of at most {}", found_json(slots),
             CompareChoice::kMostSlots);
    for (const json& one : slots) (void)compare.add(view_slot_of(one));
}

}  // namespace

json compare_to_json(const CompareChoice& compare) {
    json slots = json::array();
    for (const CompareSlot& slot : compare.slots) slots.push_back(view_slot_to_json(slot));
    return {{"slots", slots},
            {"view", kCompareViews[size_t(compare.view)]},
            {"other", compare.other},
            {"lower", kComparedParts[size_t(compare.lower)]},
            {"split", compare.split},
            {"matches", compare.matches},
            {"matches_layers", compare.matches_layers},
            {"links_zoom", compare.links_zoom},
            {"links_range", compare.links_range}};
}

void take_compare(const json& of, CompareChoice& compare) {
    const ViewKeys keys(of, "compare");
    keys.take("view", compare.view, kCompareViews);
    keys.take("lower", compare.lower, kComparedParts);
    keys.take("split", compare.split, {0, 1});
    keys.take("matches", compare.matches);
    keys.take("matches_layers", compare.matches_layers);
    keys.take("links_zoom", compare.links_zoom);
    keys.take("links_range", compare.links_range);
    auto other = static_cast<int64_t>(compare.other);
    keys.take("other", other, {1, CompareChoice::kMostSlots - 1});
    take_slots(keys, compare);
    // Of the slots that are there; the first is compared with it.
    const size_t last = std::max<size_t>(2, compare.slots.size()) - 1;
    compare.other = std::min(static_cast<size_t>(other), last);
}

}  // namespace aft::app
