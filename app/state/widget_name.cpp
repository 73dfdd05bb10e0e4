#include "app/state/widget_name.h"

#include <algorithm>

namespace aft::app {

WidgetName WidgetName::split(std::string_view name) {
    const size_t mark = name.find("##");
    if (mark == std::string_view::npos)
        return {std::string(name), std::string(name), is_widget_id(name)};
    const std::string_view id = name.substr(mark + 2);
    return {std::string(name.substr(0, mark)), std::string(id), is_widget_id(id)};
}

WidgetName WidgetName::with(std::string_view shown, std::string_view given) const {
    return {words + std::string(shown), id + std::string(given), has_id};
}

WidgetName WidgetName::choice(const WidgetName& chosen) const {
    return {words + "=" + chosen.words, id + "=" + chosen.id, has_id && chosen.has_id};
}

bool is_widget_id(std::string_view text) {
    return !text.empty() && std::none_of(text.begin(), text.end(),
                                         [](char c) { return c == ' ' || (c >= 'A' && c <= 'Z'); });
}

}  // namespace aft::app
