// A recipe as JSON, whether or not its interventions are known here (model/recipe.h).
#include <algorithm>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/caught.h"
#include "core/check.h"
#include "core/json.h"
#include "core/outside.h"
#include "model/recipe.h"

namespace aft {
namespace {

constexpr size_t kMostInterventions = 256;
constexpr const char* kVersionKey = "afterimage_recipe";

void refuse_other_keys(const nlohmann::json& of, const std::vector<std::string>& known) {
    for (const auto& [key, value] : of.items())
        if (std::find(known.begin(), known.end(), key) == known.end())
            fail_usage("unknown key '{}'; allowed: {}", shown(key), shown_names(known));
}

// "all", or a number from 0.
int64_t index_of(const nlohmann::json& of, const char* key) {
    const auto found = of.find(key);
    if (found == of.end() || *found == "all") return -1;
    if (!found->is_number_integer() || *found < 0 || *found > (1 << 20))
        fail_usage("{}: found {}, allowed: \"all\" or a whole number from 0", key,
                   found_json(*found));
    return found->get<int64_t>();
}

std::string option_text(const std::string& key, const nlohmann::json& value) {
    if (value.is_string()) return value.get<std::string>();
    if (value.is_number()) return value.dump();
    fail_usage("options.{}: found {}, allowed: a number or a text", shown(key), found_json(value));
}

Intervention intervention_of(const nlohmann::json& of) {
    if (!of.is_object()) fail_usage("found {}, allowed: an object", found_json(of));
    refuse_other_keys(of, {"name", "layer", "head", "strength", "on", "options"});
    Intervention out;
    if (!of.contains("name") || !of["name"].is_string())
        fail_usage("its name is missing (afterimage list interventions)");
    out.name = of["name"].get<std::string>();
    out.layer = index_of(of, "layer");
    out.head = index_of(of, "head");
    if (const auto found = of.find("strength"); found != of.end()) {
        if (!found->is_number())
            fail_usage("strength: found {}, allowed: 0 to 1", found_json(*found));
        out.strength = found->get<double>();
    }
    if (const auto found = of.find("on"); found != of.end()) {
        if (!found->is_boolean())
            fail_usage("on: found {}, allowed: true, false", found_json(*found));
        out.on = found->get<bool>();
    }
    if (const auto found = of.find("options"); found != of.end()) {
        if (!found->is_object())
            fail_usage("options: found {}, allowed: an object", found_json(*found));
        for (const auto& [key, value] : found->items()) out.options[key] = option_text(key, value);
    }
    return out;
}

nlohmann::ordered_json index_json(int64_t index) {
    if (index < 0) return "all";
    return index;
}

// A number where the whole text is one.
nlohmann::ordered_json option_json(const std::string& text) {
    double number = 0;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (text.empty() || problem != std::errc() || end != text.data() + text.size()) return text;
    if (!std::isfinite(number)) return text;  // JSON has no such number
    if (number == std::floor(number) && std::abs(number) < 1e15)
        return static_cast<int64_t>(number);
    return number;
}

}  // namespace

Recipe recipe_of_json(const nlohmann::json& of) {
    if (!of.is_object() || !of.contains(kVersionKey))
        fail_usage("this is no recipe: the key '{}' is missing", kVersionKey);
    if (of[kVersionKey] != 1)
        fail_usage("{}: found {}, this version reads 1", kVersionKey, found_json(of[kVersionKey]));
    refuse_other_keys(of, {kVersionKey, "model", "interventions"});
    const auto list = of.find("interventions");
    if (list == of.end() || !list->is_array())
        fail_usage("interventions: {}, allowed: a list",
                   list == of.end() ? "missing" : "found " + found_json(*list));
    if (list->size() > kMostInterventions)
        fail_usage("interventions: found {}, allowed: at most {}", list->size(),
                   kMostInterventions);
    Recipe recipe;
    for (const nlohmann::json& one : *list)
        recipe.interventions.push_back(
            with_context(fmt::format("intervention {}", recipe.interventions.size() + 1),
                         [&] { return intervention_of(one); }));
    return recipe;
}

nlohmann::ordered_json json_of_recipe(const Recipe& recipe, const std::string& model) {
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const Intervention& one : recipe.interventions) {
        nlohmann::ordered_json entry{{"name", one.name},
                                     {"layer", index_json(one.layer)},
                                     {"head", index_json(one.head)},
                                     {"strength", one.strength},
                                     {"on", one.on}};
        for (const auto& [key, value] : one.options) entry["options"][key] = option_json(value);
        list.push_back(std::move(entry));
    }
    return {{kVersionKey, 1}, {"model", model}, {"interventions", std::move(list)}};
}

}  // namespace aft
