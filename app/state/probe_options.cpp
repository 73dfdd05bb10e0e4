#include "app/state/probe_options.h"

#include "core/check.h"
#include "model/jobs/probe.h"

namespace aft::app {

const std::string& option_value(const std::string& probe, const char* key, size_t place) {
    const ProbeOption* const row = probe_option(probe, key);
    AFT_ASSERT(row != nullptr && place < row->values.size());
    return row->values.at(place);
}

size_t option_size(const std::string& probe, const char* key) {
    const ProbeOption* const row = probe_option(probe, key);
    return row == nullptr ? 0 : row->values.size();
}

Quantity quantity_of_kernel(Quantity quantity) {
    return kQuantityOption.is_taken_by("kernel", quantity) ? quantity : Quantity::exp;
}

}  // namespace aft::app
