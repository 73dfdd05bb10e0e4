#include "app/state/standing_events.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <map>
#include <string>

#include "core/text.h"

namespace aft::app {
namespace {

struct Change {
    std::string key, value;
    bool takes_back = false;
};

bool is_change(const Event& event) {
    return event.kind == "learning-rate" || event.kind == "setting";
}

Change change_of(const Event& event) {
    Change out;
    std::string text = event.text;
    out.takes_back = text.ends_with(kUndone);
    if (out.takes_back) text.resize(text.size() - kUndone.size());
    const size_t equals = text.find(" = ");
    out.key = text.substr(0, equals);
    if (equals != std::string::npos) out.value = text.substr(equals + 3);
    return out;
}

// "0.001" is "1e-3".
bool is_same_value(const std::string& a, const std::string& b) {
    const auto number = [](const std::string& text) {
        double value = std::nan("");
        const char* const end = text.data() + text.size();
        return std::from_chars(text.data(), end, value).ptr == end ? value : std::nan("");
    };
    return a == b || number(a) == number(b);
}

}  // namespace

std::vector<Event> standing_events(std::vector<Event> events) {
    std::map<std::string, std::vector<size_t>> standing;  // changes of each setting
    std::vector<bool> is_gone(events.size());
    for (size_t i = 0; i < events.size(); ++i) {
        Event& event = events[i];
        is_gone[i] = event.kind == "target" && event.step == 0;
        if (!is_change(event)) continue;
        const Change change = change_of(event);
        std::vector<size_t>& open = standing[change.key];
        if (!change.takes_back) {
            open.push_back(i);
            continue;
        }
        bool had_steps = false;
        while (!open.empty() &&
               !is_same_value(change_of(events[open.back()]).value, change.value)) {
            Event& undone = events[open.back()];
            is_gone[open.back()] = undone.step == event.step;
            had_steps = had_steps || undone.step != event.step;
            undone.text += fmt::format(" (undone at step {})", group_thousands(event.step));
            undone.kind = "undone";
            open.pop_back();
        }
        is_gone[i] = !had_steps;
        event.kind = "undone";
    }
    std::vector<Event> out;
    for (size_t i = 0; i < events.size(); ++i)
        if (!is_gone[i]) out.push_back(std::move(events[i]));
    return out;
}

}  // namespace aft::app
