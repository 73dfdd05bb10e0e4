#include "core/data_spec.h"

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

}  // namespace aft
