// The words of an event's detail, for the log and the screen. Pure, any thread.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace aft {

// {"text": "..."} or a string: as it stands; null: ""; anything else as JSON.
[[nodiscard]] std::string event_words(const nlohmann::json& detail);
// A line of log.txt, "TIME step 320 setting: {"text": "..."}" as earlier versions wrote it, in
// words; "" = it says what the line before it says: a save with no words of its own.
[[nodiscard]] std::string log_line_words(const std::string& line);

}  // namespace aft
