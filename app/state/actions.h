// Actions: the one registry. Menus, command palette, F1 list, tooltips, shortcuts and `afterimage
// script` are generated from it. Filled once at the start by the frame and by every panel; run on
// the window thread.
#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace aft::app {

struct Ui;

struct Action {
    std::string name;      // unique, as a person says it: "Fit range of the bias map"
    std::string sentence;  // what it does; mandatory
    const char* icon = "";
    std::string shortcut{};  // "Ctrl+Shift+P", "Space", "Shift+.", "["; "" = none
    std::string menu{};      // "File", "Run", "View", "Help": also shown there; "" = palette only
    std::function<std::string(const Ui&)>
        why_not{};  // empty function or "" = enabled; else the reason in words
    std::function<void(Ui&)> run{};
    bool repeats = false;  // the shortcut repeats while held (scrubbing)
};

class Actions {
  public:
    void add(Action action);  // a name twice, or without a sentence, is a programmer's mistake
    [[nodiscard]] const std::vector<Action>& all() const { return actions_; }
    [[nodiscard]] const Action* find(
        std::string_view name) const;  // case matters not; nullptr if none
    // "" = it can be run. Unknown names answer "no such action".
    [[nodiscard]] std::string why_not(const Ui& ui, std::string_view name) const;
    // Runs it, or shows the reason as a toast and returns false.
    bool run(Ui& ui, std::string_view name) const;
    // Runs the actions whose shortcut was pressed this frame (not while text is typed).
    void handle_keys(Ui& ui) const;

  private:
    std::vector<Action> actions_;
};

[[nodiscard]] int key_chord(std::string_view shortcut);  // ImGuiKeyChord; 0 = not understood
[[nodiscard]] std::string shortcut_words(
    std::string_view shortcut);  // "Ctrl Shift P", as it is shown

}  // namespace aft::app
