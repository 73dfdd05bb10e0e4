#include "model/room_settings.h"

#include "core/check.h"

namespace aft {

namespace {

// "model.window" -> "window"
std::string name_of(const Setting& row) {
    const size_t dot = row.key.find('.');
    AFT_ASSERT(dot != std::string::npos);
    return row.key.substr(dot + 1);
}

// A number that was set as a whole one, for a row of real ones.
void set(const RoomSettings::Value& from, double& to) {
    if (const auto* whole = std::get_if<int64_t>(&from))
        to = static_cast<double>(*whole);
    else
        to = std::get<double>(from);
}

template <class T>
void set(const RoomSettings::Value& from, T& to) {
    AFT_ASSERT(std::holds_alternative<T>(from));
    to = std::get<T>(from);
}

}  // namespace

void RoomSettings::keep(Setting& row) {
    const std::string name = name_of(row);
    const bool is_new = !values_.contains(name);
    std::visit(
        [&](auto*& target) {
            auto value = *target;
            if (!is_new) set(values_.at(name), value);
            Value& kept = values_[name];
            kept = value;
            target = &std::get<decltype(value)>(kept);
        },
        row.value);
}

void RoomSettings::load(SettingRows& rows) const {
    for (Setting& row : rows) {
        const auto found = values_.find(name_of(row));
        if (found == values_.end()) continue;
        std::visit([&](auto* target) { set(found->second, *target); }, row.value);
    }
}

void add_rows(RoomSettings& values, SettingRows& declared, SettingRows& rows) {
    for (Setting& row : declared) {
        const Setting* const other = find_setting(rows, row.key);
        if (other != nullptr) {
            AFT_ASSERT(other->value.index() == row.value.index() && other->help == row.help);
            continue;
        }
        values.keep(row);
        rows.push_back(row);
    }
}

}  // namespace aft
