#include "core/environment.h"

#include <cstdlib>

namespace aft {

std::string variable(const char* name) {
    const char* const value = std::getenv(name);
    return value == nullptr ? "" : value;
}

bool has_display() {
    return !variable("DISPLAY").empty() || !variable("WAYLAND_DISPLAY").empty();
}

}  // namespace aft
