// Recipe: an ordered list of interventions on a model: changes of its position biases or weights
// that are tried out and never stored in it. Rooms of model/interventions do them; the window, the
// commands and files of recipes (docs/interventions.md) name them. Plain types. No LibTorch. Any
// thread.
#pragma once
#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "core/rooms.h"

namespace aft {

// What a setting of an intervention is, as its room declares it. A text where it has choices or is
// text; else a number in [min, max], whole unless is_real.
struct InterventionOption {
    std::string key, help;  // help: one sentence
    std::string standard;   // used where it is not given
    double min = 0, max = 0;
    bool is_real = false, is_text = false;
    std::vector<std::string> choices = {};
    std::string at_min = {};  // what a number's min stands for: "the same"
    std::string empty = {};   // what an empty text stands for: "this model"
    bool is_path = false;     // a text: a checkpoint or run folder
};

// Which models a room takes, and what else the window must know of it.
struct InterventionInfo {
    RoomInfo info;
    std::string formula;  // what it does to w, in a line; for tooltips
    std::vector<InterventionOption> options;
    bool edits_bias = true;    // w of layers; else their other weights
    bool has_strength = true;  // else it is done in full
    bool has_heads = true;     // can be done to one head
};

struct Intervention {
    std::string name;               // of its room
    int64_t layer = -1, head = -1;  // -1 = all
    double strength = 1;            // 0 .. 1: of the way from untouched to changed
    bool on = true;
    std::map<std::string, std::string> options;
    [[nodiscard]] bool operator==(const Intervention&) const = default;
};

struct Recipe {
    std::vector<Intervention> interventions;  // in this order
    // Nothing is on.
    [[nodiscard]] bool is_untouched() const {
        for (const Intervention& one : interventions)
            if (one.on) return false;
        return true;
    }
    [[nodiscard]] bool operator==(const Recipe&) const = default;
};

// A recipe's file as JSON, whether or not its interventions are known here. usage Error that says
// what was found and what is allowed.
[[nodiscard]] Recipe recipe_of_json(const nlohmann::json& json);
// model: what it was made for, in a line; for people alone.
[[nodiscard]] nlohmann::ordered_json json_of_recipe(const Recipe& recipe, const std::string& model);

}  // namespace aft
