// A mapping: how the names of somebody else's checkpoint become ours. One JSON file each:
// assets/imports/NAME.json, or the user's own (docs/imports.md describes every key). Read with the
// limits of core/json.h and at most 500 rules. No LibTorch. Any thread; blocks on the file.
#pragma once
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "core/rooms.h"

namespace aft::imports {

struct Rule {
    std::string from;  // pattern of their names
    // Ours; more than one: equal parts along the first axis, "-" for one that is left out.
    std::vector<std::string> to;
    std::string drop;       // why it is left out; then `to` is empty
    std::string check;      // of what is dropped: "band" of `window`, "sinusoidal"; or ""
    std::string otherwise;  // what to do where that check fails
    bool copy = false;      // every name of `to` gets the whole; {i} that `from` lacks: every layer
    bool transpose = false;          // of two axes, the last behind axes of one
    std::vector<std::string> shape;  // expressions: the shape to give it; empty = as it is
    std::vector<std::string> back;   // expressions: their shape, for the way back
    std::string first;               // expression: the first so many rows; "" = all
    std::string scale;               // expression: multiplied by it; "" = 1
    std::string times;               // multiplied by this tensor of the file (a mask)
    // Masks of the file: -inf where the first is 0, or the second is not.
    std::string visible, hidden;
};

// An argument by which the origin's own code builds what the file alone does not say.
struct Argument {
    std::string setting;  // of ours: "model.heads"
    // "num_heads={}": {} is its value, {model.width} that of another; "" = by its value in `values`
    std::string text;
    std::map<std::string, std::string> values;  // value -> text, "" = nothing to say
    // No tensor says it: export takes any value here, import takes it from --set.
    bool is_free = false;
    bool is_note = false;  // not of the constructor: a remark behind it
};
struct Constructor {
    std::string name;  // "timm....VisionTransformer"; "" = the mapping names none
    std::vector<Argument> arguments;
};

struct Mapping {
    RoomInfo info;                                // a file of the user's: named by its path
    std::string file;                             // for messages
    bool is_known = false;                        // one of assets/imports
    std::vector<std::string> needs, lacks;        // patterns of names: recognised by these
    std::vector<std::string> notes;               // what it takes for granted, for the user
    std::vector<std::string> given;               // settings: only where the user gives them
    bool by_name_only = false;                    // never by its names alone: --as
    std::string refuse;                           // why such a file is not taken
    std::map<std::string, std::string> sizes;     // name -> expression
    std::map<std::string, std::string> settings;  // "model.dim" -> text, or "=EXPRESSION"
    std::map<std::string, std::string> ask;       // settings that the file does not say -> why
    std::vector<Rule> rules;
    std::map<std::string, double> fill;  // pattern of our names -> constant
    std::vector<std::string> fresh;      // patterns of our names that start anew
    Constructor constructor;             // of the origin
};

// usage Error, naming file and key, on anything else than a mapping.
[[nodiscard]] Mapping read_mapping(const std::filesystem::path& file);
// assets/imports/*.json, by name.
[[nodiscard]] std::vector<Mapping> known_mappings();

}  // namespace aft::imports
