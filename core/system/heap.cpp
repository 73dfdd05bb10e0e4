#include "core/system/heap.h"

#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <vector>

#include "core/system/block_cache.h"

namespace aft {

namespace {

constexpr size_t kPiece = size_t{16} << 20;

struct FreeBlock {
    void operator()(void* block) const { std::free(block); }
};
using HeapBlock = std::unique_ptr<void, FreeBlock>;

// Gives the full pages of a free block back to the system.
void drop_pages(void* block) {
    const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
    const auto first = reinterpret_cast<uintptr_t>(block);
    const uintptr_t begin = (first + page - 1) / page * page, end = (first + kPiece) / page * page;
    static_cast<void>(madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED));
}

}  // namespace

void keep_freed_memory() {
    constexpr int kLargestFreeEnd = 1 << 30;
    mallopt(M_MMAP_MAX, 0);  // large blocks come from the heap, too
    mallopt(M_TRIM_THRESHOLD, kLargestFreeEnd);
    mallopt(M_ARENA_MAX, 1);  // each thread would keep a heap of its own
}

// malloc_trim locks the heap while the system takes the pages, and a frame that allocates then
// waits: 21 to 25 ms for 800 MB. So the large free blocks are allocated first, drop their pages
// while nothing is locked, and are freed; little is left to trim.
void trim_heap() {
    large_blocks().trim();
    std::vector<HeapBlock> pieces;
    for (;;) {
        const size_t free_before = mallinfo2().fordblks;
        pieces.emplace_back(std::malloc(kPiece));
        // No free block of that size is left, or the heap had to grow for it.
        if (!pieces.back() || mallinfo2().fordblks + kPiece > free_before) break;
    }
    for (const HeapBlock& piece : pieces)
        if (piece) drop_pages(piece.get());
    pieces.clear();
    malloc_trim(0);
}

}  // namespace aft
