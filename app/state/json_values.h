// Values of the objects in files that the window keeps: what is left out is the standard, another
// type is an Error that names the key, what was found and what is allowed. Pure functions; any
// thread.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace aft::app {

[[nodiscard]] std::string json_string(const nlohmann::json& of, const char* key,
                                      const char* standard = "");
[[nodiscard]] bool json_flag(const nlohmann::json& of, const char* key, bool standard);
// Empty ones where they are left out.
[[nodiscard]] const nlohmann::json& json_list(const nlohmann::json& of, const char* key);
[[nodiscard]] const nlohmann::json& json_object(const nlohmann::json& of, const char* key);

}  // namespace aft::app
