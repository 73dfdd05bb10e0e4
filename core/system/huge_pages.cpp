#include "core/system/huge_pages.h"

#include <sys/mman.h>

#include <utility>

#include "core/check.h"

namespace aft {

namespace {

constexpr int64_t kHugePageBytes = int64_t{2} << 20;

}  // namespace

HugePageArena::HugePageArena(int64_t bytes) : size_(bytes + kHugePageBytes) {
    void* const memory = mmap(nullptr, static_cast<size_t>(size_), PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    AFT_CHECK(memory != MAP_FAILED, "no memory for {} MB of packed weights", bytes >> 20);
    begin_ = static_cast<uint8_t*>(memory);
    const auto off = static_cast<int64_t>(reinterpret_cast<uintptr_t>(begin_) % kHugePageBytes);
    next_ = begin_ + (off == 0 ? 0 : kHugePageBytes - off);
    (void)madvise(next_, static_cast<size_t>(begin_ + size_ - next_), MADV_HUGEPAGE);
}

HugePageArena::HugePageArena(HugePageArena&& other) noexcept
    : begin_(std::exchange(other.begin_, nullptr)),
      next_(std::exchange(other.next_, nullptr)),
      size_(std::exchange(other.size_, 0)) {}

HugePageArena& HugePageArena::operator=(HugePageArena&& other) noexcept {
    std::swap(begin_, other.begin_);
    std::swap(next_, other.next_);
    std::swap(size_, other.size_);
    return *this;
}

HugePageArena::~HugePageArena() {
    if (begin_ != nullptr) munmap(begin_, static_cast<size_t>(size_));
}

void advise_huge_pages(void* data, int64_t bytes) {
    if (bytes < 16 * kHugePageBytes) return;
    constexpr auto page = static_cast<uintptr_t>(kHugePageBytes);
    const auto begin = reinterpret_cast<uintptr_t>(data);
    const uintptr_t first = (begin + page - 1) / page * page;
    const uintptr_t last = (begin + static_cast<uintptr_t>(bytes)) / page * page;
    (void)madvise(reinterpret_cast<void*>(first), last - first, MADV_HUGEPAGE);
}

uint8_t* HugePageArena::allocate(int64_t bytes) {
    uint8_t* const piece = next_;
    next_ += (bytes + kCacheLineBytes - 1) / kCacheLineBytes * kCacheLineBytes;
    AFT_ASSERT(next_ <= begin_ + size_);
    return piece;
}

}  // namespace aft
