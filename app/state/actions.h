// Actions: the one registry. Menus, command palette, F1 list, tooltips, shortcuts and `afterimage
// script` are generated from it. Filled once at the start by the frame and by every panel; run on
// the window thread.
#pragma once
#include <imgui.h>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace aft::app {

struct Ui;

struct Action {
    std::string id;        // unique and stable: "map.fit_range"; what code and tests use
    std::string name;      // unique, as a person says it: "Fit range"; what the window shows
    std::string sentence;  // what it does; mandatory
    const char* icon = "";
    std::string shortcut{};  // "Ctrl+Shift+P", "Space", "Shift+.", "["; "" = none
    std::string menu{};      // "File", "Run", "View", "Help": also shown there; "" = palette only
    // Empty function or "" = enabled; else the reason in words.
    std::function<std::string(const Ui&)> why_not{};
    std::function<void(Ui&)> run{};
    bool repeats = false;  // the shortcut repeats while held (scrubbing)
    // Its icon is drawn as one that is on. Empty function: never.
    std::function<bool(const Ui&)> is_on{};
};

class Actions {
  public:
    // An id or name twice, or no sentence, is a programmer's mistake.
    void add(Action action);
    [[nodiscard]] const std::vector<Action>& all() const { return actions_; }
    [[nodiscard]] const Action* find(std::string_view id) const;  // nullptr if there is none
    // For scripts: by the name that the palette shows (case matters not), or by the id.
    [[nodiscard]] const Action* find_named(std::string_view words) const;
    // "" = it can be run. Unknown ids answer "there is no such action".
    [[nodiscard]] std::string why_not(const Ui& ui, std::string_view id) const;
    // Runs it, or shows the reason as a toast and returns false. Error: no such id.
    bool run(Ui& ui, std::string_view id) const;
    // Runs the actions whose shortcut was pressed this frame (not while text is typed).
    void handle_keys(Ui& ui) const;
    // "" takes its keys away. Returns why not: keys that are not understood, or another action's.
    [[nodiscard]] std::string set_shortcut(std::string_view id, const std::string& shortcut);

  private:
    std::vector<Action> actions_;
};

// The keys that an action has now, "Ctrl+S"; "" = none, or no such action.
[[nodiscard]] std::string keys_of(const Actions& actions, std::string_view id);
// Modifiers as they were when the key went down: a slow frame may hold the release of Ctrl too.
[[nodiscard]] int mods_at_press(ImGuiKey key);
[[nodiscard]] int key_chord(std::string_view shortcut);  // ImGuiKeyChord; 0 = not understood
// "Ctrl+Shift+P" of an ImGuiKeyChord; "" where the key has no name.
[[nodiscard]] std::string chord_text(int chord);
// "Ctrl Shift P", as it is shown.
[[nodiscard]] std::string shortcut_words(std::string_view shortcut);

}  // namespace aft::app
