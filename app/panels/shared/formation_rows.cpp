#include "app/panels/shared/formation_rows.h"

#include <algorithm>
#include <sstream>

namespace aft::app {

// They stand in the field's notes: "1 1 4".
std::vector<size_t> formation_heads(const Field& field) {
    std::istringstream words(field.notes.at("heads"));
    std::vector<size_t> heads;
    for (size_t count = 0; words >> count;) heads.push_back(count);
    return heads;
}

std::optional<size_t> formation_row(const Field& field, int64_t layer, int64_t head) {
    const std::vector<size_t> heads = formation_heads(field);
    const auto own = static_cast<size_t>(std::max<int64_t>(0, head));
    if (layer < 0 || size_t(layer) >= heads.size() || own >= heads[size_t(layer)]) return {};
    size_t row = own;
    for (int64_t i = 0; i < layer; ++i) row += heads[size_t(i)];
    return row;
}

}  // namespace aft::app
