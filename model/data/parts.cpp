#include "model/data/parts.h"

namespace aft {

// FNV-1a.
static uint64_t name_hash(std::string_view name) {
    uint64_t hash = 0xcbf29ce484222325;
    for (char c : name) hash = (hash ^ static_cast<uint8_t>(c)) * 0x100000001b3;
    return hash;
}

bool is_held_out(std::string_view name, int64_t percent) {
    const uint64_t hash = name_hash(name);
    return static_cast<int64_t>(hash % 10 * 10 + hash / 10 % 10) < percent;
}

bool wants_all_parts(const Spec& spec) {
    const auto split = spec.options.find("split");
    return split != spec.options.end() && split->second == kAllParts;
}

}  // namespace aft
