// What the process was started with: environment variables. Any thread, as long as nobody sets one.
#pragma once
#include <string>

namespace aft {

[[nodiscard]] std::string variable(const char* name);  // empty: not set, or set to nothing
[[nodiscard]] bool has_display();                      // X11 or Wayland

}  // namespace aft
