// The exact path of the CPU operators: what float32 cannot hold (kNeedsExact), one entry at a time
// in float64 and log space (kernels.inl; Eq. 2). Any finite K and w; NaN and infinity reach the
// rows that see them. Runs on the calling thread's OpenMP team; results do not depend on its size.
//
// Cost: O(window + T / 96) for each entry, O(T) for each column that holds one, O(T) memory for
// each column. Internal to ops/cpu.
#pragma once
#include "model/ops/cpu/call.h"

namespace aft::ops::cpu {

// Entries whose y is not finite are recomputed: y, and of what is kept average and denominator
// (kNeedsExact).
void apply_exact_fallback(const Call& call, const BackendResult& result);
// The same for all entries.
void compute_exactly(const Call& call, const BackendResult& result);

// Adds to the gradients what entries with denominator kNeedsExact send; call and dy in float32.
void add_exact_gradient(const Call& call, const BackendResult& kept, const at::Tensor& dy,
                        Gradients& to);

}  // namespace aft::ops::cpu
