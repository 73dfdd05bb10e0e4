#include "app/state/settings_merge.h"

#include <algorithm>

namespace aft::app {
namespace {

template <class T>
void merge(const T& theirs, const T& loaded, T& ours) {
    if (ours == loaded) ours = theirs;
}

template <class T>
bool holds(const std::vector<T>& list, const T& one) {
    return std::find(list.begin(), list.end(), one) != list.end();
}

// Ours in their order, then what they have added.
template <class T>
void merge_list(const std::vector<T>& theirs, const std::vector<T>& loaded, std::vector<T>& ours) {
    if (ours == loaded) {
        ours = theirs;
        return;
    }
    std::erase_if(ours, [&](const T& one) { return holds(loaded, one) && !holds(theirs, one); });
    for (const T& one : theirs)
        if (!holds(loaded, one) && !holds(ours, one)) ours.push_back(one);
}

template <class Map>
void merge_map(const Map& theirs, const Map& loaded, Map& ours) {
    const auto same = [](const Map& a, const Map& b, const auto& key) {
        const auto in_a = a.find(key), in_b = b.find(key);
        if (in_a == a.end() || in_b == b.end()) return (in_a == a.end()) == (in_b == b.end());
        return in_a->second == in_b->second;
    };
    for (const auto& [key, value] : theirs)
        if (same(ours, loaded, key)) ours[key] = value;
    for (const auto& [key, value] : loaded)
        if (!theirs.contains(key) && same(ours, loaded, key)) ours.erase(key);
}

template <class T>
void keep_most(std::vector<T>& list, size_t most) {
    if (list.size() > most) list.resize(most);
}

void merge_experiments(const Experiments& theirs, const Experiments& loaded, Experiments& ours) {
    merge_list(theirs.recipes, loaded.recipes, ours.recipes);
    merge_list(theirs.completions, loaded.completions, ours.completions);
    keep_most(ours.recipes, Experiments::kMostOfAKind);
    keep_most(ours.completions, Experiments::kMostOfAKind);
}

void merge_notes(const RunNotes& theirs, const RunNotes& loaded, RunNotes& ours) {
    merge(theirs.name, loaded.name, ours.name);
    merge(theirs.tag, loaded.tag, ours.tag);
    merge(theirs.note, loaded.note, ours.note);
    merge(theirs.locked, loaded.locked, ours.locked);
    merge(theirs.mask, loaded.mask, ours.mask);
    merge(theirs.recipe, loaded.recipe, ours.recipe);
    merge_list(theirs.pins, loaded.pins, ours.pins);
    merge_list(theirs.overlays, loaded.overlays, ours.overlays);
    keep_most(ours.overlays, kMostOverlays);
    merge_experiments(theirs.experiments, loaded.experiments, ours.experiments);
    merge_map(theirs.step_notes, loaded.step_notes, ours.step_notes);
}

RunNotes notes_of(const UserSettings& settings, const std::string& path) {
    const auto found = settings.notes.find(path);
    return found == settings.notes.end() ? RunNotes() : found->second;
}

bool is_recent(const UserSettings& settings, const std::string& path) {
    return std::any_of(settings.recent.begin(), settings.recent.end(),
                       [&](const RecentItem& item) { return item.path == path; });
}

void merge_recent(const UserSettings& theirs, const UserSettings& loaded, UserSettings& ours) {
    std::erase_if(ours.recent, [&](const RecentItem& item) {  // forgotten there
        return is_recent(loaded, item.path) && !is_recent(theirs, item.path);
    });
    for (const RecentItem& item : theirs.recent)
        if (!is_recent(ours, item.path) && !is_recent(loaded, item.path))
            ours.recent.push_back(item);
    std::stable_sort(ours.recent.begin(), ours.recent.end(),
                     [](const RecentItem& a, const RecentItem& b) { return a.opened > b.opened; });
    keep_most(ours.recent, kMostRecent);
}

}  // namespace

void merge_user_settings(const UserSettings& theirs, const UserSettings& loaded,
                         UserSettings& ours) {
    for (const auto* all : {&theirs.notes, &loaded.notes})
        for (const auto& [path, notes] : *all)
            merge_notes(notes_of(theirs, path), notes_of(loaded, path), ours.notes[path]);
    merge_recent(theirs, loaded, ours);
    merge_map(theirs.layouts, loaded.layouts, ours.layouts);
    merge_map(theirs.data_locations, loaded.data_locations, ours.data_locations);
    merge_map(theirs.keys, loaded.keys, ours.keys);
    merge(theirs.theme, loaded.theme, ours.theme);
    merge(theirs.zoom, loaded.zoom, ours.zoom);
    merge(theirs.trainer_share, loaded.trainer_share, ours.trainer_share);
    merge(theirs.many_steps, loaded.many_steps, ours.many_steps);
    merge(theirs.smooth_while_interact, loaded.smooth_while_interact, ours.smooth_while_interact);
    merge(theirs.reduce_motion, loaded.reduce_motion, ours.reduce_motion);
    merge(theirs.tour_done, loaded.tour_done, ours.tour_done);
    merge(theirs.attention, loaded.attention, ours.attention);
    merge(theirs.last_folder, loaded.last_folder, ours.last_folder);
    merge(theirs.view, loaded.view, ours.view);
}

void take_over_merged(const UserSettings& merged, const std::string& open, UserSettings& ours) {
    const RunNotes own = notes_of(ours, open);
    ours.notes = merged.notes;
    ours.recent = merged.recent;
    ours.layouts = merged.layouts;
    ours.data_locations = merged.data_locations;
    if (open.empty()) return;
    RunNotes& notes = ours.notes[open];
    notes.locked = own.locked;
    notes.mask = own.mask;
    notes.recipe = own.recipe;
    notes.overlays = own.overlays;
}

}  // namespace aft::app
