// Icons: code points of the Material Design Icons font as UTF-8, under the names that the window
// uses.
#pragma once

namespace aft::app::icon {

inline constexpr const char* play = "\uE037";
inline constexpr const char* pause = "\uE034";
inline constexpr const char* stop = "\uE047";
inline constexpr const char* step = "\uE044";
inline constexpr const char* step_back = "\uE045";
inline constexpr const char* fast = "\uE01F";
inline constexpr const char* first = "\uE5DC";
inline constexpr const char* last = "\uE5DD";
inline constexpr const char* flag = "\uE153";
inline constexpr const char* save = "\uE161";
inline constexpr const char* rewind = "\uE042";
inline constexpr const char* branch = "\uE0B6";
inline constexpr const char* open = "\uE2C8";
inline constexpr const char* folder = "\uE2C7";
inline constexpr const char* file = "\uE24D";
inline constexpr const char* download = "\uE2C4";
inline constexpr const char* pin = "\uF10D";
inline constexpr const char* compare = "\uE3B9";
inline constexpr const char* lock = "\uE897";
inline constexpr const char* unlock = "\uE898";
inline constexpr const char* link = "\uE157";
inline constexpr const char* fit = "\uE3B4";
inline constexpr const char* brush = "\uE3AE";
inline constexpr const char* eraser = "\uE663";
inline constexpr const char* rectangle = "\uE3C6";
inline constexpr const char* invert = "\uE891";
inline constexpr const char* undo = "\uE166";
inline constexpr const char* redo = "\uE15A";
inline constexpr const char* tune = "\uE429";
inline constexpr const char* freeze = "\uEB3B";
inline constexpr const char* eye = "\uE8F4";
inline constexpr const char* eye_off = "\uE8F5";
inline constexpr const char* star = "\uE838";
inline constexpr const char* star_outline = "\uE83A";
inline constexpr const char* dice = "\uEB40";
inline constexpr const char* search = "\uE8B6";
inline constexpr const char* more = "\uE5D3";
inline constexpr const char* warning = "\uE002";
inline constexpr const char* error = "\uE000";
inline constexpr const char* info = "\uE88E";
inline constexpr const char* ok = "\uE86C";
inline constexpr const char* check = "\uE5CA";
inline constexpr const char* close = "\uE5CD";
inline constexpr const char* bell = "\uE7F4";
inline constexpr const char* help = "\uE8FD";
inline constexpr const char* layers = "\uE53B";
inline constexpr const char* history = "\uE889";
inline constexpr const char* terminal = "\uEB8E";
inline constexpr const char* keyboard = "\uE312";
inline constexpr const char* right = "\uE5CC";
inline constexpr const char* down = "\uE5CF";
inline constexpr const char* up_down = "\uE5D7";
inline constexpr const char* picture = "\uE3F4";
inline constexpr const char* plus = "\uE145";
inline constexpr const char* minus = "\uE15B";
inline constexpr const char* refresh = "\uE5D5";
inline constexpr const char* settings = "\uE8B8";
inline constexpr const char* home = "\uE88A";
inline constexpr const char* menu = "\uE5D2";
inline constexpr const char* up = "\uE5D8";
inline constexpr const char* below = "\uE5DB";  // an arrow, as up
inline constexpr const char* copy = "\uE14D";
inline constexpr const char* flask = "\uEA4B";
inline constexpr const char* text = "\uE262";
inline constexpr const char* trash = "\uE872";
inline constexpr const char* edit = "\uE3C9";
inline constexpr const char* swap = "\uE8D4";
inline constexpr const char* grid = "\uE3EC";
inline constexpr const char* palette = "\uE40A";
inline constexpr const char* contrast = "\uEB37";
inline constexpr const char* chart = "\uE6E1";
inline constexpr const char* zoom_in = "\uE8FF";
inline constexpr const char* zoom_out = "\uE900";
inline constexpr const char* memory = "\uE322";
inline constexpr const char* functions = "\uE24A";
inline constexpr const char* quit = "\uE879";
inline constexpr const char* dot = "\uEF4A";
inline constexpr const char* ring = "\uE836";

}  // namespace aft::app::icon
