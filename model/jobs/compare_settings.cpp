#include <set>

#include "core/settings.h"
#include "model/jobs/compare.h"

namespace aft {

std::vector<DifferingSetting> differing_settings(const std::vector<const Config*>& configs) {
    constexpr const char* kNotRead = "\u2013";
    std::vector<DifferingSetting> out;
    if (configs.empty()) return out;
    std::vector<Config> copies;  // rows point into them
    std::vector<SettingRows> rows;
    std::vector<std::set<std::string>> unread;
    for (const Config* const config : configs) copies.push_back(*config);
    for (Config& config : copies) {
        rows.push_back(config.rows());
        unread.push_back(unread_settings(config));
    }
    for (const Setting& row : rows.front()) {
        DifferingSetting one{.key = row.key, .values = {}};
        bool is_read = false, differs = false;
        for (size_t i = 0; i < rows.size(); ++i) {
            const bool is_read_here = !unread[i].contains(row.key);
            const Setting* const found = find_setting(rows[i], row.key);
            one.values.push_back(found != nullptr && is_read_here ? value_text(*found) : kNotRead);
            is_read |= is_read_here;
            differs |= one.values.back() != one.values.front();
        }
        if (is_read && differs) out.push_back(std::move(one));
    }
    return out;
}

}  // namespace aft
