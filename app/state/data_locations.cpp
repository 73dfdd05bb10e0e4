#include "app/state/data_locations.h"

#include <filesystem>

#include "core/data_spec.h"

namespace aft::app {

namespace fs = std::filesystem;

std::string data_as_remembered(const UserSettings& settings, const std::string& source) {
    DataSpec spec = split_data_spec(source);
    const auto found = settings.data_locations.find(spec.path);
    std::error_code ignored;
    if (spec.path.empty() || found == settings.data_locations.end() ||
        fs::exists(spec.path, ignored) || !fs::exists(found->second, ignored))
        return source;
    spec.path = found->second;
    return spec.text();
}

std::string remember_data_location(UserSettings& settings, const std::string& source,
                                   const std::string& path) {
    DataSpec spec = split_data_spec(source);
    std::string key = spec.path;
    for (const auto& [said, chosen] : settings.data_locations)
        if (chosen == spec.path) key = said;
    std::error_code ignored;
    spec.path = fs::absolute(path, ignored).lexically_normal().string();
    if (!key.empty()) settings.data_locations[key] = spec.path;
    return spec.text();
}

}  // namespace aft::app
