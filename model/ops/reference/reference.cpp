// The backend's table: the average of each operator, then its gate, all in float64.
#include "model/ops/reference/reference.h"

#include <ATen/ATen.h>

#include "core/check.h"
#include "model/ops/backend.h"
#include "model/ops/common/checks.h"

namespace aft::ops::reference {

namespace {

at::Tensor average_of(OperatorKind kind, const Inputs& in, const Options& options) {
    switch (kind) {
        case OperatorKind::simple:
            return simple(in, options);
        case OperatorKind::full:
            return full(in, options);
        case OperatorKind::local:
            return local(in, options);
        case OperatorKind::conv1d:
            return conv1d(in, options);
        case OperatorKind::conv2d:
            return conv2d(in, options);
        case OperatorKind::softmax:
            return softmax(in, options);
        case OperatorKind::linear:
            return linear(in, options);
    }
    fail("unknown operator");
}

at::Tensor apply(OperatorKind kind, const Inputs& in, const Options& options) {
    const at::Tensor R = average_of(kind, in, options);
    const bool gated = has_gate(kind) && in.q.defined();
    return (gated ? in.q.to(at::kDouble).sigmoid() * R : R).to(in.v.scalar_type());
}

const char* why_not(OperatorKind, const Inputs&, const Options&) {
    return nullptr;
}

}  // namespace

const BackendFunctions& functions() {
    static constexpr BackendFunctions table{
        .name = "reference", .why_not = why_not, .apply = apply};
    return table;
}

}  // namespace aft::ops::reference
