#include "core/field.h"

#include <utility>

#include "core/check.h"

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

void FieldMean::add(Field one) {
    if (count_++ == 0) {
        sum_ = std::move(one);
        return;
    }
    AFT_ASSERT(sum_.values.size() == one.values.size());
    for (size_t i = 0; i < sum_.values.size(); ++i) sum_.values[i] += one.values[i];
}

Field FieldMean::mean() && {
    for (float& v : sum_.values) v /= static_cast<float>(count_);
    return std::move(sum_);
}

}  // namespace aft
