#include "core/system/huge_pages.h"

#include <sys/mman.h>

#include <utility>

#include "core/check.h"

namespace aft::decode {

namespace {

constexpr int64_t kLargePage = int64_t{2} << 20;

}  // namespace

Pages::Pages(int64_t bytes) : size_(bytes + kLargePage) {
    void* const room = mmap(nullptr, static_cast<size_t>(size_), PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    AFT_CHECK(room != MAP_FAILED, "no memory for {} MB of packed weights", bytes >> 20);
    begin_ = static_cast<uint8_t*>(room);
    const auto off = static_cast<int64_t>(reinterpret_cast<uintptr_t>(begin_) % kLargePage);
    next_ = begin_ + (off == 0 ? 0 : kLargePage - off);
    (void)madvise(next_, static_cast<size_t>(begin_ + size_ - next_), MADV_HUGEPAGE);
}

Pages::Pages(Pages&& other) noexcept
    : begin_(std::exchange(other.begin_, nullptr)),
      next_(std::exchange(other.next_, nullptr)),
      size_(std::exchange(other.size_, 0)) {}

Pages& Pages::operator=(Pages&& other) noexcept {
    std::swap(begin_, other.begin_);
    std::swap(next_, other.next_);
    std::swap(size_, other.size_);
    return *this;
}

Pages::~Pages() {
    if (begin_ != nullptr) munmap(begin_, static_cast<size_t>(size_));
}

uint8_t* Pages::take(int64_t bytes) {
    uint8_t* const piece = next_;
    next_ += (bytes + kLineBytes - 1) / kLineBytes * kLineBytes;
    AFT_ASSERT(next_ <= begin_ + size_);
    return piece;
}

}  // namespace aft::decode
