// The CPU backend: our own vector kernels for all of AFT, with sums in float32 and tensors in
// float32 or bfloat16 (the training path on a processor). Entries whose scaling is not safe are
// computed again by the exact path. Differentiable; checked inputs. Deterministic, whatever the
// number of threads.
#pragma once
namespace aft::ops::cpu {

[[nodiscard]] const char* instruction_set();  // AFTERIMAGE_CPU (simd/instruction_set.h)

}  // namespace aft::ops::cpu
