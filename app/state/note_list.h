// Notes at steps of a run as JSON, read defensively. Pure; any thread.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace aft::app {

using StepNotes = std::map<int64_t, std::string>;  // by step; one line of text each

inline constexpr size_t kMostStepNotes = 1000, kMostNoteBytes = 2000;
inline constexpr const char* kNoteList = "notes";  // their key in notes.json

// [{"step": 40, "text": "..."}]
[[nodiscard]] nlohmann::json step_notes_to_json(const StepNotes& notes);
// Error: no list, or an entry of it is none, names what was found. "" as a text stays.
[[nodiscard]] StepNotes step_notes_from_json(const nlohmann::json& list);

}  // namespace aft::app
