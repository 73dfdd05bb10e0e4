// What commands print. Results go to standard output (with --json one JSON object and nothing
// else), everything else to standard error. Main thread; Error if standard output cannot be
// written.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace aft::app {

void print_result(const std::string& text);    // as it is, no line end added
void print_json(const nlohmann::json& json);   // one object, indented
void print_words(const nlohmann::json& json);  // "key: value" lines for people
void print_result(const nlohmann::json& json, bool as_json);
void print_note(const std::string& text);  // a line on standard error

}  // namespace aft::app
