#include "core/field.h"

namespace aft {

int64_t Field::size() const {
    int64_t n = 1;
    for (int64_t extent : shape) n *= extent;
    return n;
}

const Field* FieldSet::find(const std::string& name) const {
    for (const Field& field : fields)
        if (field.name == name) return &field;
    return nullptr;
}

}  // namespace aft
