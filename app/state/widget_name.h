// WidgetName: what a control is called, in Dear ImGui's way: "Shown words##id". The words are drawn
// and may change with the state or with better wording; the id stays and is what scripts, tests and
// Dear ImGui find the control by. What is data (a file, an action, a setting's key) is its own id.
#pragma once
#include <concepts>
#include <string>
#include <string_view>
#include <utility>

namespace aft::app {

struct WidgetName {
    std::string words, id;
    // False: no id was given and the words are none (they have capitals or blanks). A control of
    // such a name works, with its words for an id; the tests refuse it.
    bool has_id = true;

    WidgetName() = default;
    // "Target step##target_step", or "train.steps", which is an id as it stands.
    template <std::convertible_to<std::string_view> Text>
    WidgetName(const Text& name) : WidgetName(split(name)) {}
    WidgetName(std::string shown, std::string given, bool is_given = true)
        : words(std::move(shown)), id(std::move(given)), has_id(is_given) {}
    // Text from outside, never split: it may hold "##" itself.
    [[nodiscard]] static WidgetName data(std::string text) { return {text, text}; }
    // The same with something behind words and id: (" slider", "_slider").
    [[nodiscard]] WidgetName with(std::string_view shown, std::string_view given) const;
    // "Sort" and "By date" -> "Sort=By date", "sort=by_date".
    [[nodiscard]] WidgetName choice(const WidgetName& chosen) const;

  private:
    [[nodiscard]] static WidgetName split(std::string_view name);
};

// No capitals, no blanks, not empty.
[[nodiscard]] bool is_widget_id(std::string_view text);

}  // namespace aft::app
