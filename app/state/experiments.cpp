#include "app/state/experiments.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "app/state/json_values.h"
#include "app/state/mask_text.h"
#include "core/caught.h"
#include "core/check.h"
#include "core/json.h"
#include "core/outside.h"

namespace aft::app {
namespace {

using nlohmann::json;

constexpr int64_t kMostExamples = 4096, kHighestIndex = 1'000'000, kMostLength = 100'000;
constexpr int64_t kMostSide = 1024, kMostSamples = 1024;
constexpr double kMostSeed = 9007199254740992.0;  // a double holds all integers up to here

json to_json(const WatchedRecipe& one) {
    return {{"name", one.name},
            {"recipe", json(json_of_recipe(one.recipe, ""))},
            {"split", one.split},
            {"first", one.first},
            {"examples", one.examples}};
}

WatchedRecipe recipe_from(const json& j) {
    return {.name = json_string(j, "name"),
            .recipe = recipe_of_json(json_object(j, "recipe")),
            .split = json_string(j, "split"),
            .first = clamped_whole(j, "first", {0, 0, double(kHighestIndex)}),
            .examples = clamped_whole(j, "examples", {64, 2, double(kMostExamples)})};
}

json to_json(const WatchedCompletion& one) {
    json j{{"name", one.name},   {"temperature", one.temperature},
           {"top_p", one.top_p}, {"top_k", one.top_k},
           {"seed", one.seed},   {"particles", one.particles}};
    if (one.mask.empty()) {
        j["prompt"] = one.prompt;
        j["length"] = one.length;
        return j;
    }
    j["height"] = one.height;
    j["width"] = one.width;
    j["mask"] = mask_text(one.mask);
    if (!one.path.empty()) j["path"] = one.path;
    if (!one.split.empty()) j["split"] = one.split;
    if (!one.split.empty()) j["index"] = one.index;
    return j;
}

WatchedCompletion completion_from(const json& j) {
    WatchedCompletion one{
        .name = json_string(j, "name"),
        .prompt = json_string(j, "prompt"),
        .path = json_string(j, "path"),
        .split = json_string(j, "split"),
        .index = clamped_whole(j, "index", {0, 0, double(kHighestIndex)}),
        .height = clamped_whole(j, "height", {0, 0, double(kMostSide)}),
        .width = clamped_whole(j, "width", {0, 0, double(kMostSide)}),
        .temperature = clamped_number(j, "temperature", {1, 0, 100}),
        .top_p = clamped_number(j, "top_p", {1, 0, 1}),
        .top_k = clamped_whole(j, "top_k", {0, 0, double(kHighestIndex)}),
        .particles = clamped_whole(j, "particles", {1, 1, double(kMostSamples)}),
        .seed = static_cast<uint64_t>(clamped_number(j, "seed", {1, 0, kMostSeed}))};
    if (j.contains("mask")) {
        one.mask = mask_of_text(json_string(j, "mask"), one.height, one.width);
        if (std::count(one.mask.begin(), one.mask.end(), uint8_t{1}) == 0)
            fail("mask: nothing is to be filled, allowed: at least one value");
    } else {
        one.length = clamped_whole(j, "length", {1, 1, double(kMostLength)});
    }
    return one;
}

template <class One>
std::vector<One> list_in(const json& j, const char* key, One (*read)(const json&)) {
    std::vector<One> out;
    size_t index = 0;
    for (const json& one : json_list(j, key)) {
        if (out.size() >= Experiments::kMostOfAKind) break;
        out.push_back(
            with_context("experiments." + std::string(key) + "[" + std::to_string(index++) + "]",
                         [&] { return read(one); }));
    }
    return out;
}

// One after the other, so that one that cannot be read takes no other with it.
template <class One>
std::vector<One> list_left(const json& j, const char* key, One (*read)(const json&),
                           std::vector<std::string>& left_out) {
    std::vector<One> out;
    const auto found = j.is_object() ? j.find(key) : j.end();
    if (found == j.end() || !found->is_array()) return out;
    for (const json& one : *found) {
        if (out.size() >= Experiments::kMostOfAKind) break;
        std::string words = error_words(
            [&] { out.push_back(list_in(json{{key, json::array({one})}}, key, read).front()); });
        if (!words.empty()) left_out.push_back(std::move(words));
    }
    return out;
}

}  // namespace

bool WatchedRecipe::measures_as(const WatchedRecipe& other) const {
    WatchedRecipe named = other;
    named.name = name;
    return *this == named;
}

bool WatchedCompletion::measures_as(const WatchedCompletion& other) const {
    WatchedCompletion named = other;
    named.name = name;
    return *this == named;
}

namespace {

template <class One>
void add_missing(std::vector<One>& to, const std::vector<One>& more) {
    for (const One& one : more) {
        const bool is_there =
            std::any_of(to.begin(), to.end(), [&](const One& old) { return old.measures_as(one); });
        if (!is_there && to.size() < Experiments::kMostOfAKind) to.push_back(one);
    }
}

}  // namespace

void add_missing(Experiments& to, const Experiments& more) {
    add_missing(to.recipes, more.recipes);
    add_missing(to.completions, more.completions);
}

json experiments_to_json(const Experiments& experiments) {
    json recipes = json::array(), completions = json::array();
    for (const WatchedRecipe& one : experiments.recipes) recipes.push_back(to_json(one));
    for (const WatchedCompletion& one : experiments.completions)
        completions.push_back(to_json(one));
    return {{"recipes", recipes}, {"completions", completions}};
}

Experiments experiments_from_json(const json& j, std::vector<std::string>* left_out) {
    if (left_out != nullptr)
        return {.recipes = list_left(j, "recipes", recipe_from, *left_out),
                .completions = list_left(j, "completions", completion_from, *left_out)};
    return {.recipes = list_in(j, "recipes", recipe_from),
            .completions = list_in(j, "completions", completion_from)};
}

size_t kept_bytes(const Experiments& experiments) {
    return json_text(experiments_to_json(experiments)).size();
}

}  // namespace aft::app
