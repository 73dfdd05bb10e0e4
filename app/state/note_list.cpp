#include "app/state/note_list.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "app/state/view_keys.h"
#include "core/check.h"
#include "core/json.h"
#include "core/text.h"

namespace aft::app {

using nlohmann::json;

namespace {

constexpr double kMostStep = 9007199254740992.0;

}  // namespace

json step_notes_to_json(const StepNotes& notes) {
    json list = json::array();
    for (const auto& [step, text] : notes) list.push_back({{"step", step}, {"text", text}});
    return list;
}

StepNotes step_notes_from_json(const json& list) {
    if (!list.is_array()) fail("{}: found {}, allowed: a list", kNoteList, found_json(list));
    if (list.size() > kMostStepNotes)
        fail("{}: found {} of them, allowed: at most {}", kNoteList, list.size(), kMostStepNotes);
    StepNotes notes;
    for (size_t i = 0; i < list.size(); ++i) {
        const ViewKeys one(list[i], fmt::format("{}[{}]", kNoteList, i));
        int64_t step = -1;
        std::string text;
        one.take("step", step, {0, kMostStep});
        one.take("text", text);
        if (step < 0) fail("{}[{}].step: missing, allowed: a step", kNoteList, i);
        if (text.size() > kMostNoteBytes)
            fail("{}[{}].text: found {} bytes, allowed: at most {}", kNoteList, i, text.size(),
                 kMostNoteBytes);
        notes[step] = printable_line(text);
    }
    return notes;
}

}  // namespace aft::app
