#include "app/frame/trim_heap.h"

#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <vector>

namespace aft::app {

namespace {

constexpr size_t kPiece = size_t{16} << 20;

struct Free {
    void operator()(void* block) const { std::free(block); }
};
using Block = std::unique_ptr<void, Free>;

// The whole pages of a block that nobody uses.
void discard_pages(void* block) {
    const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
    const auto first = reinterpret_cast<uintptr_t>(block);
    const uintptr_t begin = (first + page - 1) / page * page, end = (first + kPiece) / page * page;
    static_cast<void>(madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED));
}

}  // namespace

// malloc_trim holds the one heap locked while the system takes its pages, and a frame that asks for
// memory then waits: 21 to 25 ms of 800 MB. So the large free pieces are taken first, lose their
// pages while nothing is locked, and are free again; little is left to trim, and nobody waits.
void trim_heap() {
    std::vector<Block> pieces;
    for (;;) {
        const size_t free_before = mallinfo2().fordblks;
        pieces.emplace_back(std::malloc(kPiece));
        // None left, or the heap had to grow for it.
        if (!pieces.back() || mallinfo2().fordblks + kPiece > free_before) break;
    }
    for (const Block& piece : pieces)
        if (piece) discard_pages(piece.get());
    pieces.clear();
    malloc_trim(0);
}

}  // namespace aft::app
