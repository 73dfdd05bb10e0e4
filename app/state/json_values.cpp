#include "app/state/json_values.h"

#include <nlohmann/json.hpp>

#include "core/check.h"
#include "core/json.h"

namespace aft::app {

using nlohmann::json;

namespace {

// Null: it is left out.
const json* value_of_type(const json& of, const char* key, json::value_t type, const char* words) {
    if (!of.is_object()) fail("found {}, allowed: an object", found_json(of));
    const auto found = of.find(key);
    if (found == of.end()) return nullptr;
    if (found->type() != type) fail("{}: found {}, allowed: {}", key, found_json(*found), words);
    return &*found;
}

}  // namespace

std::string json_string(const json& of, const char* key, const char* standard) {
    const json* const value = value_of_type(of, key, json::value_t::string, "a text");
    return value == nullptr ? standard : value->get<std::string>();
}

bool json_flag(const json& of, const char* key, bool standard) {
    const json* const value = value_of_type(of, key, json::value_t::boolean, "true or false");
    return value == nullptr ? standard : value->get<bool>();
}

const json& json_list(const json& of, const char* key) {
    static const json none = json::array();
    const json* const value = value_of_type(of, key, json::value_t::array, "a list");
    return value == nullptr ? none : *value;
}

const json& json_object(const json& of, const char* key) {
    static const json none = json::object();
    const json* const value = value_of_type(of, key, json::value_t::object, "an object");
    return value == nullptr ? none : *value;
}

}  // namespace aft::app
