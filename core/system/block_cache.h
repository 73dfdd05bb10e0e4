// Large blocks of memory, kept when they are freed and given out again. Any thread; a call takes
// about a microsecond, or the system's time for new pages. No LibTorch.
//
// A training step frees its tensors and allocates them again, of a few sizes. Given back to the
// system in between they come in anew page by page, which took a fifth of a step; a heap that keeps
// them splits them: of 1,710 MB at the peak of a step (aft-simple, 4 layers, T = 3072, 8 pictures)
// 934 were in use. A block here stays whole, and kept blocks of other sizes are given back before
// what is in use and what is kept exceed the most that was ever in use by more than 32 MiB.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <unordered_map>
#include <vector>

namespace aft {

class BlockCache {
  public:
    // Smaller blocks are the heap's; all are under the address sanitizer, which would see neither
    // the end of a block nor that it was freed.
#ifdef __SANITIZE_ADDRESS__
    static constexpr size_t kSmallest = SIZE_MAX;
#else
    static constexpr size_t kSmallest = size_t{1} << 18;
#endif

    BlockCache() = default;
    BlockCache(const BlockCache&) = delete;
    BlockCache& operator=(const BlockCache&) = delete;
    ~BlockCache();  // no block may be in use

    // On a cache line boundary; from 2 MiB on in huge pages where the system has them. nullptr
    // where there is no memory.
    [[nodiscard]] void* allocate(size_t bytes);
    // false: it is none of these blocks.
    [[nodiscard]] bool free(void* block);
    // Gives the kept blocks back to the system; the peak begins anew.
    void trim();
    struct Use {
        size_t in_use = 0, kept = 0, peak = 0;  // bytes
        int64_t mapped = 0;                     // blocks that the system was asked for
    };
    [[nodiscard]] Use use() const;

  private:
    struct CachedBlock {
        void *data = nullptr, *base = nullptr;
        size_t bytes = 0;  // from base on
    };
    static void unmap(const std::vector<CachedBlock>& blocks);
    [[nodiscard]] static CachedBlock map(size_t bytes);
    void give_back_kept();
    [[nodiscard]] CachedBlock take_kept(size_t bytes);
    // Takes blocks out, of the size of which most bytes are kept, until `bytes` more may be mapped.
    [[nodiscard]] std::vector<CachedBlock> surplus(size_t bytes);
    mutable std::mutex mutex_;
    std::unordered_map<void*, CachedBlock> used_;
    std::map<size_t, std::vector<CachedBlock>> kept_;  // by their bytes, in the order of free()
    Use use_;
};

// The program's. Never destroyed: tensors may outlive main().
[[nodiscard]] BlockCache& large_blocks();

}  // namespace aft
