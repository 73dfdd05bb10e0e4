// The file of UserSettings as a text (user_settings.cpp). Any thread.
#pragma once
#include <string>
#include <string_view>

#include "app/state/user_settings.h"

namespace aft::app {

// Numbers out of range come to its end. Throws at anything that is of another kind.
[[nodiscard]] UserSettings parse_user_settings(std::string_view text);
[[nodiscard]] std::string user_settings_text(const UserSettings& settings);

}  // namespace aft::app
