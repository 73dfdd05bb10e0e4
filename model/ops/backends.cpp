#include <array>

#include "core/check.h"
#include "model/ops/backend.h"

namespace aft::ops {

std::span<const BackendFunctions* const> backends() {
    static const std::array list{
#define AFT_BACKEND(name) &name::functions(),
#include "model/ops/backends.inl"
#undef AFT_BACKEND
    };
    return list;
}

const BackendFunctions& functions_of(OperatorBackend backend) {
    AFT_ASSERT(backend != OperatorBackend::automatic);
    return *backends()[static_cast<std::size_t>(backend) - 1];
}

OperatorBackend parse_backend(const std::string& name) {
    if (name == "auto") return OperatorBackend::automatic;
    std::string known = "auto";
    for (std::size_t i = 0; i < backends().size(); ++i) {
        if (name == backends()[i]->name) return static_cast<OperatorBackend>(i + 1);
        known += ", " + std::string(backends()[i]->name);
    }
    fail_usage("unknown backend '{}'; allowed: {}", name, known);
}

std::vector<std::string> backend_names() {
    std::vector<std::string> names;
    for (const BackendFunctions* const backend : backends()) names.emplace_back(backend->name);
    return names;
}

}  // namespace aft::ops
