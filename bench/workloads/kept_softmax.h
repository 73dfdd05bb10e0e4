// Softmax attention as it was usual when AFT was published: the scores of every head, [T, T], are
// formed and kept for the backward pass. The mixer of a peer net in the rows of memory and of
// inference. No setting, list or help offers it, and no run is saved with it. Benchmark thread.
#pragma once

namespace aft::bench {

inline constexpr const char* kKeptSoftmax = "softmax by its scores";

// Makes the name known to configs of this process. Any number of times.
void add_kept_softmax();

}  // namespace aft::bench
