// Shards: which part of each parameter a rank's optimizer updates. Without ranks: all of it.
#pragma once
#include <cstdint>
#include <vector>

namespace aft {

struct Shard {
    int64_t first = 0, count = 0;  // of the values in memory order
};
using Shards = std::vector<Shard>;  // one per parameter

// Values that one thread takes at a time; shards begin at multiples of it, so that sums over pieces
// are the same however they are shared out.
inline constexpr int64_t kPieceValues = 1 << 14;

}  // namespace aft
