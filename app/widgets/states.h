// States: what a pane shows in place of its content or above it: empty state, banner, progress,
// chips; colours and icons of a run and of messages. Window thread, inside a frame.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "app/state/ui.h"

namespace aft::app {

// Outline drawings of empty states.
enum class Drawing { grid, curve, picture, text, layers, flask, compare };
struct EmptyState {
    Drawing drawing = Drawing::grid;
    std::string title{}, sentence{};
    std::string primary{}, secondary{};  // ids of actions; "" = none
    std::string hint{};
    std::string primary_words{},
        secondary_words{};  // text on the buttons, when not the action's name
};
void empty_state(Ui& ui, const EmptyState& spec);

struct Banner {
    ToastKind kind = ToastKind::error;
    std::string title{}, sentence{};
    std::vector<std::string> actions{};  // ids of actions, as buttons
};
void banner(Ui& ui, const Banner& spec);

// 2 px line at the pane's top and words; fraction < 0 = unknown. True if Cancel was pressed (only
// with `cancel`).
bool progress_line(DrawContext& ui, std::string_view words, double fraction, bool cancel = false);
// In its place after Cancel: words and a button that computes it. True if pressed.
bool cancelled_line(DrawContext& ui, std::string_view words);
void progress_bar(const DrawContext& ui, double fraction, ImU32 color, float height = 6);
void chip(DrawContext& ui, const WidgetName& name, const char* icon, ImU32 color);
[[nodiscard]] ImU32 kind_color(const Theme& theme, ToastKind kind);
[[nodiscard]] const char* kind_icon(ToastKind kind);
[[nodiscard]] ImU32 state_color(const Theme& theme, RunState state);
[[nodiscard]] const char* state_icon(RunState state);
// A pause after a failed step is an error.
[[nodiscard]] RunState shown_state(const Status& status);

}  // namespace aft::app
