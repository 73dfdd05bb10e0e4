#include "app/state/actions.h"

#include <fmt/format.h>
#include <imgui_internal.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include "app/state/ui.h"
#include "core/check.h"
#include "core/text.h"

namespace aft::app {

namespace {

bool is_equal_ignoring_case(std::string_view a, std::string_view b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](unsigned char x, unsigned char y) {
        return std::tolower(x) == std::tolower(y);
    });
}

struct KeyName {
    const char* word;
    int chord;
};

constexpr std::array kKeyNames = {KeyName{"Space", ImGuiKey_Space},
                                  KeyName{"Esc", ImGuiKey_Escape},
                                  KeyName{"Escape", ImGuiKey_Escape},
                                  KeyName{"Enter", ImGuiKey_Enter},
                                  KeyName{"Tab", ImGuiKey_Tab},
                                  KeyName{"Left", ImGuiKey_LeftArrow},
                                  KeyName{"Right", ImGuiKey_RightArrow},
                                  KeyName{"Up", ImGuiKey_UpArrow},
                                  KeyName{"Down", ImGuiKey_DownArrow},
                                  KeyName{"Home", ImGuiKey_Home},
                                  KeyName{"End", ImGuiKey_End},
                                  KeyName{"Delete", ImGuiKey_Delete},
                                  KeyName{"Backspace", ImGuiKey_Backspace},
                                  KeyName{".", ImGuiKey_Period},
                                  KeyName{",", ImGuiKey_Comma},
                                  KeyName{"[", ImGuiKey_LeftBracket},
                                  KeyName{"]", ImGuiKey_RightBracket},
                                  KeyName{"{", ImGuiMod_Shift | ImGuiKey_LeftBracket},
                                  KeyName{"}", ImGuiMod_Shift | ImGuiKey_RightBracket},
                                  KeyName{"-", ImGuiKey_Minus},
                                  KeyName{"=", ImGuiKey_Equal},
                                  KeyName{"Plus", ImGuiKey_Equal},
                                  KeyName{"?", ImGuiMod_Shift | ImGuiKey_Slash}};

int key_code(std::string_view word) {
    if (word.size() == 1 && std::isalpha(static_cast<unsigned char>(word[0])) != 0)
        return ImGuiKey_A + (std::toupper(static_cast<unsigned char>(word[0])) - 'A');
    if (word.size() == 1 && std::isdigit(static_cast<unsigned char>(word[0])) != 0)
        return ImGuiKey_0 + (word[0] - '0');
    if (word.size() == 2 && word[0] == 'F' && word[1] >= '1' && word[1] <= '9')
        return ImGuiKey_F1 + (word[1] - '1');
    for (const KeyName& name : kKeyNames)
        if (word == name.word) return name.chord;
    return 0;
}

// Keys that belong to a text field while it is edited. Ctrl+Left and Ctrl+Right are the timeline's
// everywhere.
bool edits_text(int chord) {
    const int key = chord & ~ImGuiMod_Mask_;
    if (key >= ImGuiKey_F1 && key <= ImGuiKey_F12) return false;
    constexpr std::array kOfFields = {ImGuiKey_A,     ImGuiKey_C,         ImGuiKey_V,
                                      ImGuiKey_X,     ImGuiKey_Y,         ImGuiKey_Z,
                                      ImGuiKey_Enter, ImGuiKey_Backspace, ImGuiKey_Delete,
                                      ImGuiKey_Home,  ImGuiKey_End,       ImGuiKey_Insert};
    return (chord & ImGuiMod_Ctrl) == 0 ||
           std::find(kOfFields.begin(), kOfFields.end(), key) != kOfFields.end();
}

bool moves_focus(int chord) {  // keys that belong to a widget while it has the keyboard
    switch (chord) {
        case ImGuiKey_LeftArrow:
        case ImGuiKey_RightArrow:
        case ImGuiKey_UpArrow:
        case ImGuiKey_DownArrow:
        case ImGuiKey_Space:
        case ImGuiKey_Enter:
        case ImGuiKey_Home:
        case ImGuiKey_End:
            return true;
        default:
            return false;
    }
}

}  // namespace

int mods_at_press(ImGuiKey key) {
    const ImVector<ImGuiInputEvent>& events = ImGui::GetCurrentContext()->InputEventsTrail;
    const auto is_press = [key](const ImGuiInputEvent& event) {
        return event.Type == ImGuiInputEventType_Key && event.Key.Key == key && event.Key.Down;
    };
    int mods = ImGui::GetIO().KeyMods;
    if (std::none_of(events.begin(), events.end(), is_press)) return mods;  // held: it repeats
    for (int i = events.Size - 1; i >= 0 && !is_press(events[i]); --i) {
        if (events[i].Type != ImGuiInputEventType_Key) continue;
        const int mod = events[i].Key.Key & ImGuiMod_Mask_;
        mods = events[i].Key.Down ? mods & ~mod : mods | mod;
    }
    return mods;
}

void Actions::add(Action action) {
    AFT_ASSERT(!action.id.empty() && !action.name.empty() && !action.sentence.empty() &&
               action.run);
    AFT_ASSERT(find(action.id) == nullptr && find_named(action.name) == nullptr);
    AFT_ASSERT(action.shortcut.empty() || key_chord(action.shortcut) != 0);
    actions_.push_back(std::move(action));
}

const Action* Actions::find(std::string_view id) const {
    for (const Action& action : actions_)
        if (action.id == id) return &action;
    return nullptr;
}

const Action* Actions::find_named(std::string_view words) const {
    for (const Action& action : actions_)
        if (is_equal_ignoring_case(action.name, words)) return &action;
    return find(words);
}

std::string Actions::why_not(const Ui& ui, std::string_view id) const {
    const Action* action = find(id);
    if (action == nullptr) return "there is no such action";
    return action->why_not ? action->why_not(ui) : std::string();
}

bool Actions::run(Ui& ui, std::string_view id) const {
    const Action* action = find(id);
    AFT_CHECK(action != nullptr, "there is no action '{}'", id);
    std::string reason = action->why_not ? action->why_not(ui) : std::string();
    if (!reason.empty()) {
        ui.toasts.add(
            {.kind = ToastKind::info, .title = action->name, .detail = std::move(reason)});
        return false;
    }
    action->run(ui);
    ui.want_frames(3);
    return true;
}

void Actions::handle_keys(Ui& ui) const {
    const ImGuiIO& io = ImGui::GetIO();
    for (const Action& action : actions_) {
        if (action.shortcut.empty()) continue;
        const int chord = key_chord(action.shortcut);
        if (io.WantTextInput && edits_text(chord)) continue;
        if (io.NavVisible && moves_focus(chord)) continue;
        const int mods = chord & ImGuiMod_Mask_;
        const auto key = static_cast<ImGuiKey>(chord & ~ImGuiMod_Mask_);
        if (!ImGui::IsKeyPressed(key, action.repeats) || mods_at_press(key) != mods) continue;
        run(ui, action.id);
        return;
    }
}

std::string Actions::set_shortcut(std::string_view id, const std::string& shortcut) {
    const auto own = std::find_if(actions_.begin(), actions_.end(),
                                  [&](const Action& action) { return action.id == id; });
    if (own == actions_.end()) return "there is no such action";
    const int chord = key_chord(shortcut);
    if (!shortcut.empty() && chord == 0) return "these keys are not understood";
    if (chord == ImGuiKey_H) return "H belongs to the flicker of Compare";
    for (const Action& other : actions_)
        if (chord != 0 && other.id != id && key_chord(other.shortcut) == chord)
            return fmt::format("{} belongs to {}", shortcut_words(shortcut), other.name);
    own->shortcut = shortcut;
    return "";
}

std::string keys_of(const Actions& actions, std::string_view id) {
    const Action* const action = actions.find(id);
    return action == nullptr ? "" : action->shortcut;
}

std::string chord_text(int chord) {
    const int key = chord & ~ImGuiMod_Mask_, mods = chord & ImGuiMod_Mask_;
    std::string words;
    if (key >= ImGuiKey_A && key <= ImGuiKey_Z)
        words = char('A' + key - ImGuiKey_A);
    else if (key >= ImGuiKey_0 && key <= ImGuiKey_9)
        words = char('0' + key - ImGuiKey_0);
    else if (key >= ImGuiKey_F1 && key <= ImGuiKey_F9)
        words = fmt::format("F{}", 1 + key - ImGuiKey_F1);
    for (const KeyName& name : kKeyNames)
        if (words.empty() && name.chord == key) words = name.word;
    if (words.empty() || (mods & ImGuiMod_Super) != 0) return "";
    for (const auto& [mod, name] :
         {std::pair{int(ImGuiMod_Shift), "Shift+"}, std::pair{int(ImGuiMod_Alt), "Alt+"},
          std::pair{int(ImGuiMod_Ctrl), "Ctrl+"}})
        if ((mods & mod) != 0) words = name + words;
    return words;
}

int key_chord(std::string_view shortcut) {
    int chord = 0;
    while (!shortcut.empty()) {
        const size_t plus = shortcut.find('+', 1);
        const std::string_view word = shortcut.substr(0, plus);
        if (word == "Ctrl")
            chord |= ImGuiMod_Ctrl;
        else if (word == "Shift")
            chord |= ImGuiMod_Shift;
        else if (word == "Alt")
            chord |= ImGuiMod_Alt;
        else {
            const int key = key_code(word);
            if (key == 0 || plus != std::string_view::npos) return 0;
            return chord | key;
        }
        if (plus == std::string_view::npos) return 0;
        shortcut.remove_prefix(plus + 1);
    }
    return 0;
}

std::string shortcut_words(std::string_view shortcut) {
    std::string words(shortcut);
    for (size_t at = words.find('+', 1); at != std::string::npos && at + 1 < words.size();
         at = words.find('+', at + 1))
        words[at] = ' ';
    return words;
}

}  // namespace aft::app
