// Workspace: the pages of the window, in the order of the top bar.
#pragma once

namespace aft::app {

enum class Workspace { home, train, biases, attention, complete, compare, lab };
inline constexpr Workspace kWorkspaces[] = {
    Workspace::home,     Workspace::train,   Workspace::biases, Workspace::attention,
    Workspace::complete, Workspace::compare, Workspace::lab};
[[nodiscard]] const char* workspace_name(Workspace workspace);  // "Home", "Train", ...
[[nodiscard]] const char* workspace_id(Workspace workspace);    // "home", "train", ...

}  // namespace aft::app
