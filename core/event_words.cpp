#include "core/event_words.h"

#include <nlohmann/json.hpp>

#include "core/caught.h"
#include "core/json.h"

namespace aft {

std::string event_words(const nlohmann::json& detail) {
    if (detail.is_string()) return detail.get<std::string>();
    if (detail.is_object() && detail.contains("text") && detail["text"].is_string())
        return detail["text"].get<std::string>();
    return detail.is_null() ? "" : json_text(detail);
}

std::string log_line_words(const std::string& line) {
    const size_t at = line.find(": {");
    if (at == std::string::npos || line.back() != '}') return line;
    std::string words;
    const std::string problem = error_words(
        [&] { words = event_words(parse_json(line.substr(at + 2), {.file = "log.txt"})); });
    if (!problem.empty()) return line;
    const std::string before = line.substr(0, at);
    if (words.empty()) return before.ends_with(" save") ? "" : before;
    return before + ": " + words;
}

}  // namespace aft
