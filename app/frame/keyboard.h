// Keyboard: its way through the window. Which keys move the focus and which run actions, and from
// pane to pane. Window thread, inside a frame, before anything is drawn in it.
#pragma once

namespace aft::app {

// Arrows, Home, End, PgUp, PgDn and Esc run actions until a control has the visible focus, text is
// typed or a list stands open; Tab always does.
// all: every key of the keyboard, for who reads the next one.
void own_action_keys(bool all);
// To the window after (1) or before (-1) the focused one, in reading order, of those with controls;
// its first control gets the visible focus. Where the focus was not visible it becomes so in place.
void focus_pane(int by);
// Takes the visible focus away; false if there was none.
bool leave_focus();

}  // namespace aft::app
