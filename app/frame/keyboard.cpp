#include "app/frame/keyboard.h"

#include <imgui_internal.h>

#include <algorithm>
#include <vector>

namespace aft::app {

namespace {

bool can_be_focused(const ImGuiWindow& window) {
    constexpr ImGuiWindowFlags kNever =
        ImGuiWindowFlags_NoNavInputs | ImGuiWindowFlags_Tooltip | ImGuiWindowFlags_Popup;
    const bool has_controls = (window.DC.NavLayersActiveMaskNext & 1) != 0;  // of the last frame
    return window.RootWindow == &window && window.WasActive && !window.Hidden && has_controls &&
           (window.Flags & kNever) == 0;
}

std::vector<ImGuiWindow*> focusable_windows() {
    std::vector<ImGuiWindow*> list;
    for (ImGuiWindow* const window : ImGui::GetCurrentContext()->Windows)
        if (can_be_focused(*window)) list.push_back(window);
    std::stable_sort(list.begin(), list.end(), [](const ImGuiWindow* a, const ImGuiWindow* b) {
        return a->Pos.y != b->Pos.y ? a->Pos.y < b->Pos.y : a->Pos.x < b->Pos.x;
    });
    return list;
}

}  // namespace

void own_action_keys(bool all) {
    const ImGuiIO& io = ImGui::GetIO();
    const bool types = io.WantTextInput;
    const bool is_free = !io.NavVisible && ImGui::GetCurrentContext()->OpenPopupStack.Size == 0;
    const auto own = [](std::initializer_list<ImGuiKey> keys) {
        for (const ImGuiKey key : keys) ImGui::SetKeyOwner(key, ImHashStr("frame"));
    };
    for (int key = ImGuiKey_NamedKey_BEGIN; all && key < ImGuiKey_NamedKey_END; ++key)
        if (ImGui::IsKeyboardKey(static_cast<ImGuiKey>(key))) own({static_cast<ImGuiKey>(key)});
    if (!types) own({ImGuiKey_Tab, ImGuiKey_Escape});
    // They choose among the actions that the palette finds while its search is typed.
    if (types || is_free) own({ImGuiKey_UpArrow, ImGuiKey_DownArrow});
    if (!types && is_free)
        own({ImGuiKey_LeftArrow, ImGuiKey_RightArrow, ImGuiKey_Home, ImGuiKey_End, ImGuiKey_PageUp,
             ImGuiKey_PageDown});
}

void focus_pane(int by) {
    const ImGuiContext& g = *ImGui::GetCurrentContext();
    const std::vector<ImGuiWindow*> all = focusable_windows();
    if (all.empty()) return;
    const ImGuiWindow* const now = g.NavWindow != nullptr ? g.NavWindow->RootWindow : nullptr;
    const auto found = std::find(all.begin(), all.end(), now);
    const auto count = static_cast<int>(all.size());
    int next = by > 0 ? 0 : count - 1;
    if (found != all.end()) {
        const auto at = static_cast<int>(found - all.begin());
        next = g.NavCursorVisible ? (at + by + count) % count : at;
    }
    ImGuiWindow* const window = all[static_cast<size_t>(next)];
    ImGui::FocusWindow(window);
    if (g.NavWindow != window) return;
    ImGui::NavInitWindow(window, true);
    ImGui::SetNavCursorVisible(true);
}

bool leave_focus() {
    if (!ImGui::GetIO().NavVisible) return false;
    ImGui::SetNavCursorVisible(false);
    return true;
}

}  // namespace aft::app
