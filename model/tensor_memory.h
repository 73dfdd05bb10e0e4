// Where tensors of the CPU lie: large ones in blocks that are kept (core/system/block_cache.h).
// Any thread.
#pragma once

namespace aft {

// From now on LibTorch's allocator for the CPU; once or more often.
void keep_tensor_memory();

}  // namespace aft
