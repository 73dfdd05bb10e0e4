#include "core/data_spec.h"

#include <set>
#include <vector>

#include "core/text.h"

namespace aft {

std::string DataSpec::text() const {
    return room + (path.empty() ? "" : ":" + path) + options;
}

DataSpec split_data_spec(std::string_view text) {
    size_t question = text.rfind('?');
    if (question != std::string_view::npos && text.find('=', question) == std::string_view::npos &&
        text.find(':') < question && question + 1 < text.size())
        question = std::string_view::npos;
    const std::string_view head = text.substr(0, question);
    const size_t colon = head.find(':');
    DataSpec spec;
    spec.room = head.substr(0, colon);
    if (colon != std::string_view::npos) spec.path = head.substr(colon + 1);
    if (question != std::string_view::npos) spec.options = text.substr(question);
    return spec;
}

namespace {

// "a=1&b=2" -> its parts.
std::vector<std::string> pieces(const std::string& options) {
    return options.empty() ? std::vector<std::string>() : split(options.substr(1), '&');
}
std::string key_of(const std::string& option) {
    return option.substr(0, option.find('='));
}

}  // namespace

std::string with_usual_options(std::string_view spec, std::string_view usual,
                               const std::set<std::string>& but_for) {
    DataSpec out = split_data_spec(spec);
    const DataSpec other = split_data_spec(usual);
    if (out.room != other.room) return out.text();
    std::set<std::string> named = but_for;
    for (const std::string& option : pieces(out.options)) named.insert(key_of(option));
    for (const std::string& option : pieces(other.options))
        if (!named.contains(key_of(option)))
            out.options += (out.options.empty() ? "?" : "&") + option;
    return out.text();
}

}  // namespace aft
