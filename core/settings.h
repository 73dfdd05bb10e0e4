// Settings: one row per setting; JSON, --set, help text, window controls and checkpoint metadata
// come from it. A settings struct has `void visit(SettingRows& rows)` that adds one row per member.
// Any thread, no state. Numbers that reach a file are printed in the shortest form that reads back
// exactly.
#pragma once
#include <cstdint>
#include <limits>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace aft {

struct Setting {
    std::string key;  // dotted: "train.learning_rate"
    std::variant<int64_t*, double*, bool*, std::string*> value;
    std::string help;  // one sentence
    double min = -std::numeric_limits<double>::infinity();
    double max = std::numeric_limits<double>::infinity();
    std::vector<std::string> choices = {};  // for strings; empty = any
    bool live = false;                      // may change while training runs
    bool risky = false;                     // a change while it runs can make training diverge
    std::string unit = {};                  // "steps", "images", "" ...
    // Of a text that was a flag in older files: what true and false mean; empty = no such.
    std::string if_true = {}, if_false = {};
    std::vector<std::string> parts = {};  // of a text of names by commas: those that are offered
    std::string at_min = {};              // what a number's min stands for on the screen: "off"
};

using SettingRows = std::vector<Setting>;

// Rows of one kind of value, for visit().
struct SettingRange {
    double min, max;
    const char* unit = "";
    bool live = false, risky = false;
};
[[nodiscard]] Setting text_row(const char* key, std::string* value, const char* help,
                               std::vector<std::string> choices = {});
[[nodiscard]] Setting flag_row(const char* key, bool* value, const char* help);
[[nodiscard]] Setting number_row(const char* key, int64_t* value, const char* help,
                                 SettingRange range);
[[nodiscard]] Setting number_row(const char* key, double* value, const char* help,
                                 SettingRange range);

// Reads `text` into the row with this key. Throws usage Error: unknown key (names the nearest), bad
// number, out of range, not among the choices. The target is unchanged on error.
void set_from_text(SettingRows& rows, std::string_view key, std::string_view text);

// Nested objects by the dots of the keys: {"model": {"layers": 2, ...}, "train": {...}}.
[[nodiscard]] nlohmann::json settings_to_json(const SettingRows& rows);
// Sets what `json` holds; a key that no row has is an error that names `where` (a file) and the
// key.
void settings_from_json(SettingRows& rows, const nlohmann::json& json, const std::string& where);

[[nodiscard]] std::string value_text(const Setting& row);
// "allowed: 0 to 1" or "allowed: adam, sgd"
[[nodiscard]] std::string allowed_text(const Setting& row);
[[nodiscard]] Setting* find_setting(SettingRows& rows, std::string_view key);

}  // namespace aft
