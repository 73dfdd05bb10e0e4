#include "model/checkpoints/importers/recognise.h"

#include <ATen/ATen.h>

#include <algorithm>

#include "core/check.h"
#include "core/outside.h"
#include "core/text.h"
#include "model/checkpoints/importers/pattern.h"

namespace aft::imports {

namespace {

constexpr size_t kMostTensors = 100000;
constexpr size_t kMostDepth = 4;
// What training scripts wrap weights in, in the order in which one is chosen.
constexpr const char* kWrappers[] = {"model",   "state_dict", "model_state_dict",
                                     "module",  "_orig_mod",  "net",
                                     "network", "model_ema",  "ema"};

View below(const View& view, const std::string& wrapper) {
    View out{view.prefix + wrapper + ".", {}};
    const std::string start = wrapper + ".";
    for (const auto& [name, tensor] : view.tensors)
        if (name.starts_with(start)) out.tensors.emplace_back(name.substr(start.size()), tensor);
    return out;
}

// A view, then what its wrappers hold: all of the first wrapper before the second one.
void add_views(View view, size_t depth, std::vector<View>& views) {
    views.push_back(view);
    if (depth == kMostDepth) return;
    for (const char* wrapper : kWrappers) {
        View inner = below(view, wrapper);
        if (!inner.tensors.empty()) add_views(std::move(inner), depth + 1, views);
    }
}

// The whole file first.
std::vector<View> views_of(const TensorFile& file, const std::string& path) {
    if (file.tensors.size() > kMostTensors)
        fail("{}: {} tensors, at most {} are taken", path, file.tensors.size(), kMostTensors);
    std::vector<View> views;
    add_views({"", file.tensors}, 0, views);
    return views;
}

bool fits(const Mapping& mapping, const View& view) {
    const auto there = [&](const std::string& pattern) { return view.has(pattern); };
    return !mapping.needs.empty() &&
           std::all_of(mapping.needs.begin(), mapping.needs.end(), there) &&
           std::none_of(mapping.lacks.begin(), mapping.lacks.end(), there);
}

bool are_given(const Mapping& mapping, const ImportChoice& wanted) {
    return std::all_of(mapping.given.begin(), mapping.given.end(), [&](const std::string& key) {
        return std::find(wanted.given.begin(), wanted.given.end(), key) != wanted.given.end();
    });
}

size_t known_names(const Mapping& mapping, const View& view) {
    size_t count = 0;
    for (const auto& [name, tensor] : view.tensors) count += knows(mapping, name) ? 1 : 0;
    return count;
}

// What lies below each first word of the names, and so on: where weights may be that lie under
// other words than the usual ones.
void add_all_below(const View& view, size_t depth, std::vector<View>& views) {
    constexpr size_t kMostViews = 200;
    if (depth == kMostDepth) return;
    std::vector<std::string> words;
    for (const auto& [name, tensor] : view.tensors) {
        const std::string word = name.substr(0, name.find('.'));
        const bool is_there = std::find(words.begin(), words.end(), word) != words.end();
        if (word.size() < name.size() && !is_there) words.push_back(word);
        if (words.size() > kMostViews) break;
    }
    for (const std::string& word : words) {
        if (views.size() >= kMostViews) return;
        views.push_back(below(view, word));
        add_all_below(View(views.back()), depth + 1, views);
    }
}

std::string differences(const Mapping& mapping, const View& view) {
    std::vector<std::string> missing;
    for (const std::string& pattern : mapping.needs)
        if (!view.has(pattern)) missing.push_back("'" + shown(pattern) + "'");
    std::vector<std::pair<std::string, at::Tensor>> unknown;
    for (const auto& [name, tensor] : view.tensors)
        if (!knows(mapping, name)) unknown.emplace_back(name, tensor);
    std::string words;
    if (!missing.empty()) words += fmt::format("; missing: {}", shown_names(missing));
    if (!unknown.empty()) words += fmt::format("; not known there: {}", names_with_shapes(unknown));
    return words;
}

// " with --set model.task=VALUE (image, ...), --set ..."
std::string asked_settings(const Mapping& mapping) {
    std::vector<std::string> flags;
    for (const auto& [key, why] : mapping.ask)
        flags.push_back(fmt::format("--set {}=VALUE ({})", key, why));
    return flags.empty() ? "" : fmt::format(" with {}", fmt::join(flags, ", "));
}

[[noreturn]] void fail_unknown(const std::vector<Mapping>& all, std::vector<View> views,
                               const std::string& path) {
    add_all_below(View(views.front()), 0, views);
    const Mapping* nearest = nullptr;
    const View* nearest_view = nullptr;
    size_t most = 0;
    for (const Mapping& mapping : all) {
        for (const View& view : views) {
            const size_t known = known_names(mapping, view);
            // Of several that know as many, one that is chosen by its names.
            const bool is_chosen_rather =
                nearest != nullptr && nearest->by_name_only && !mapping.by_name_only;
            if (known == 0 || known < most || (known == most && !is_chosen_rather)) continue;
            most = known;
            nearest = &mapping;
            nearest_view = &view;
        }
    }
    const char* remedy =
        "write a mapping file for it (--map FILE, docs/imports.md) or name an importer (--as NAME; "
        "afterimage list importers)";
    if (nearest != nullptr && nearest->by_name_only && fits(*nearest, *nearest_view))
        fail("{}: has the names of the importer {}, but no settings; --as {} takes it{}", path,
             nearest->info.name, nearest->info.name, asked_settings(*nearest));
    if (nearest == nullptr)
        fail("{}: no importer knows a single name in it: {}; {}", path,
             names_with_shapes(views.front().tensors), remedy);
    const std::string& prefix = nearest_view->prefix;
    fail("{}: not recognised; the nearest importer is {}, which knows {} of {} names{}{}; {}", path,
         nearest->info.name, most, nearest_view->tensors.size(),
         prefix.empty() ? "" : fmt::format(" under '{}'", shown(prefix)),
         differences(*nearest, *nearest_view), remedy);
}

// The view in which a mapping that was named fits, or the one where it knows most names.
View best_view(const Mapping& mapping, const std::vector<View>& views) {
    const View* best = &views.front();
    size_t most = 0;
    for (const View& view : views) {
        if (fits(mapping, view)) return view;
        if (const size_t known = known_names(mapping, view); known > most) {
            most = known;
            best = &view;
        }
    }
    return *best;
}

// "; these names are those of clip (...), which is refused: ...", of an origin that they fit.
std::string other_origin(const std::vector<Mapping>& all, const std::vector<View>& views) {
    for (const View& view : views)
        for (const Mapping& mapping : all)
            if (!mapping.by_name_only && mapping.given.empty() && fits(mapping, view))
                return fmt::format(
                    "; these names are those of {} ({}){}", mapping.info.name,
                    mapping.info.sentence,
                    mapping.refuse.empty() ? "" : ", which is refused: " + mapping.refuse);
    return "";
}

Recognised by_name(const std::vector<Mapping>& all, const std::vector<View>& views,
                   const ImportChoice& wanted) {
    const Mapping mapping =
        wanted.map.empty() ? find_room(all, wanted.as, "importer") : read_mapping(wanted.map);
    View view = best_view(mapping, views);
    if (mapping.refuse.empty() && !mapping.needs.empty() && !fits(mapping, view))
        fail("{}: does not fit the {} {}{}{}", wanted.path,
             mapping.is_known ? "importer" : "mapping file", mapping.info.name,
             differences(mapping, view), other_origin(all, views));
    return {mapping, std::move(view)};
}

Recognised by_tensors(const std::vector<Mapping>& all, const std::vector<View>& views,
                      const ImportChoice& wanted) {
    for (const View& view : views) {
        std::vector<const Mapping*> found;
        for (const Mapping& mapping : all)
            if (!mapping.by_name_only && are_given(mapping, wanted) && fits(mapping, view))
                found.push_back(&mapping);
        if (found.empty()) continue;
        // What the user gives decides between those of the same names.
        const auto more_given = [](const Mapping* a, const Mapping* b) {
            return a->given.size() > b->given.size();
        };
        std::stable_sort(found.begin(), found.end(), more_given);
        if (found.size() > 1 && found[0]->given.size() == found[1]->given.size())
            fail("{}: both {} and {} know these names; choose one: --as NAME", wanted.path,
                 found[0]->info.name, found[1]->info.name);
        return {*found[0], view};
    }
    fail_unknown(all, views, wanted.path);
}

}  // namespace

const at::Tensor* View::find(const std::string& name) const {
    for (const auto& [known, tensor] : tensors)
        if (known == name) return &tensor;
    return nullptr;
}

bool View::has(const std::string& pattern) const {
    return std::any_of(tensors.begin(), tensors.end(),
                       [&](const auto& entry) { return match(pattern, entry.first).has_value(); });
}

bool knows(const Mapping& mapping, const std::string& name) {
    return std::any_of(mapping.rules.begin(), mapping.rules.end(),
                       [&](const Rule& rule) { return match(rule.from, name).has_value(); });
}

std::string names_with_shapes(const std::vector<std::pair<std::string, at::Tensor>>& tensors) {
    constexpr size_t kMost = 5;
    std::string words;
    for (size_t i = 0; i < std::min(tensors.size(), kMost); ++i)
        words += fmt::format("{}'{}' [{}]", i == 0 ? "" : ", ", shown(tensors[i].first),
                             fmt::join(tensors[i].second.sizes(), ", "));
    if (tensors.size() > kMost) words += fmt::format(" (and {} more)", tensors.size() - kMost);
    return words;
}

Recognised recognise(const TensorFile& file, const ImportChoice& wanted) {
    const std::vector<Mapping> all = known_mappings();
    const std::vector<View> views = views_of(file, wanted.path);
    Recognised found = wanted.as.empty() && wanted.map.empty() ? by_tensors(all, views, wanted)
                                                               : by_name(all, views, wanted);
    if (!found.mapping.refuse.empty())
        fail("{}: looks like {} ({}) and is refused: {}", wanted.path, found.mapping.info.name,
             found.mapping.info.sentence, found.mapping.refuse);
    return found;
}

}  // namespace aft::imports
