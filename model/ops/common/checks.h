// Preconditions of every backend: shapes, dtypes and devices of a call fit together. Internal to
// model/ops; called by aft.cpp.
#pragma once
#include "model/ops/aft.h"

namespace aft::ops {

// Error naming the tensor and both shapes.
void check_call(OperatorKind kind, const Inputs& in, const Options& options);

[[nodiscard]] bool has_gate(OperatorKind kind);

}  // namespace aft::ops
