#include "app/state/data_places.h"

#include <filesystem>

#include "core/data_spec.h"

namespace aft::app {

namespace fs = std::filesystem;

std::string data_as_remembered(const UserSettings& settings, const std::string& source) {
    DataSpec place = split_data_spec(source);
    const auto found = settings.data_locations.find(place.path);
    std::error_code ignored;
    if (place.path.empty() || found == settings.data_locations.end() ||
        fs::exists(place.path, ignored) || !fs::exists(found->second, ignored))
        return source;
    place.path = found->second;
    return place.text();
}

std::string remember_data_place(UserSettings& settings, const std::string& source,
                                const std::string& path) {
    DataSpec place = split_data_spec(source);
    std::string key = place.path;
    for (const auto& [said, chosen] : settings.data_locations)
        if (chosen == place.path) key = said;
    std::error_code ignored;
    place.path = fs::absolute(path, ignored).lexically_normal().string();
    if (!key.empty()) settings.data_locations[key] = place.path;
    return place.text();
}

}  // namespace aft::app
