// Tap: an observer of named intermediate values of a forward pass. Absent (nullptr) costs one
// branch. Names: "embedding", "blocks.{i}.q", ".k", ".v" (after projection, [B,T,d] or [B,T,h]),
// ".mix" (y of the operator), ".mixed" (stream after the mixer's branch, [B,T,d]), ".out" (block
// output), "logits". Values are detached by the receiver if it keeps them.
#pragma once
#include <ATen/core/Tensor.h>

#include <functional>
#include <string>

namespace aft {

using Tap = std::function<void(const std::string& name, const at::Tensor& value)>;

}  // namespace aft
