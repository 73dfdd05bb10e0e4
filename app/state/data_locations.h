// Where data lie on this machine, as the user has said it before: for opened models and new runs.
// Window thread; looks at the disk.
#pragma once
#include <string>

#include "app/state/user_settings.h"

namespace aft::app {

// `source` as "cifar10:DIR?size=16". Its own location is there, or none was chosen: unchanged;
// else with the location that was chosen for it.
[[nodiscard]] std::string data_as_remembered(const UserSettings& settings,
                                             const std::string& source);
// With this location, which is kept for what the model itself says, however often another was
// tried.
[[nodiscard]] std::string remember_data_location(UserSettings& settings, const std::string& source,
                                                 const std::string& path);

}  // namespace aft::app
