// Peak memory of a piece of work: the resident peak of the process, reset before, less what was
// resident then. Everything counts, whoever allocates it. Benchmark thread only. No LibTorch.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>

namespace aft::bench {

// Bytes above those at the call; none if the system does not tell.
[[nodiscard]] std::optional<int64_t> peak_above(const std::function<void()>& work);

}  // namespace aft::bench
