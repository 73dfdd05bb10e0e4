// ViewKeys: reads the keys of a view file's objects, strictly: a value that is not allowed is an
// Error that names its key. For app/state/view_file and its parts. Any thread.
#pragma once
#include <nlohmann/json.hpp>
#include <span>
#include <string>

#include "core/check.h"
#include "core/images/colormap.h"
#include "core/json.h"
#include "core/outside.h"

namespace aft::app {

inline constexpr Range kViewIndices{-1, double(1 << 30)}, kViewCounts{0, double(1 << 30)};

// The keys of one object; what is not there stays as it is.
class ViewKeys {
  public:
    ViewKeys(const nlohmann::json& of, std::string name) : of_(of), name_(std::move(name)) {
        if (!of_.is_object()) fail("{}: found {}, allowed: an object", name_, found_json(of_));
    }
    [[nodiscard]] bool has(const char* key) const { return of_.contains(key); }
    [[nodiscard]] ViewKeys at(const char* key) const { return {of_.at(key), path(key)}; }
    [[nodiscard]] const nlohmann::json& raw(const char* key) const { return of_.at(key); }

    void take(const char* key, std::string& to) const {
        if (const nlohmann::json* value = of_type(key, "a text", &nlohmann::json::is_string))
            to = *value;
    }
    void take(const char* key, bool& to) const {
        if (const nlohmann::json* value =
                of_type(key, "true or false", &nlohmann::json::is_boolean))
            to = *value;
    }
    void take(const char* key, double& to, Range allowed) const {
        const nlohmann::json* value = of_type(key, "a number", &nlohmann::json::is_number);
        if (value != nullptr) to = within(key, value->get<double>(), allowed);
    }
    void take(const char* key, int64_t& to, Range allowed) const {
        const nlohmann::json* value =
            of_type(key, "a whole number", &nlohmann::json::is_number_integer);
        if (value != nullptr) to = static_cast<int64_t>(within(key, value->get<double>(), allowed));
    }
    // Of an enumeration, or of an index: by its place among the names.
    template <class Enum>
    void take(const char* key, Enum& to, std::span<const char* const> names) const {
        std::string text = names[static_cast<size_t>(to)], all;
        take(key, text);
        for (size_t i = 0; i < names.size(); ++i) {
            if (text == names[i]) {
                to = static_cast<Enum>(i);
                return;
            }
            all += std::string(i == 0 ? "" : ", ") + names[i];
        }
        fail("{}: found '{}', allowed: {}", path(key), shown(text), all);
    }

  private:
    [[nodiscard]] std::string path(const char* key) const {
        return name_.empty() ? key : name_ + "." + key;
    }
    [[nodiscard]] const nlohmann::json* of_type(const char* key, const char* words,
                                                bool (nlohmann::json::*is)() const noexcept) const {
        const auto found = of_.find(key);
        if (found == of_.end()) return nullptr;
        if (!((*found).*is)())
            fail("{}: found {}, allowed: {}", path(key), found_json(*found), words);
        return &*found;
    }
    [[nodiscard]] double within(const char* key, double value, Range allowed) const {
        if (!(value >= allowed.low && value <= allowed.high))
            fail("{}: found {}, allowed: {} to {}", path(key), value, allowed.low, allowed.high);
        return value;
    }
    const nlohmann::json& of_;
    std::string name_;
};

}  // namespace aft::app
