// Huge pages (2 MiB), which the system is asked for and may refuse. No LibTorch.
//
// A decoded token reads all packed weights: 19 million of them took 1.0 ms from huge pages and 2.0
// ms from small ones. First touches in small pages cost 18 of the 30 ms of aft-simple at T = 65536.
#pragma once
#include <cstdint>

namespace aft {

// An arena of huge pages: allocated from piece by piece, freed at once. One thread.
class HugePageArena {
  public:
    HugePageArena() = default;
    explicit HugePageArena(int64_t bytes);  // Error where there is no memory
    HugePageArena(HugePageArena&& other) noexcept;
    HugePageArena& operator=(HugePageArena&& other) noexcept;
    ~HugePageArena();
    // Zeros, on a cache line boundary, until the arena ends.
    [[nodiscard]] uint8_t* allocate(int64_t bytes);

  private:
    uint8_t *begin_ = nullptr, *next_ = nullptr;
    int64_t size_ = 0;
};

// allocate() adds at most this to a piece, for alignment.
inline constexpr int64_t kCacheLineBytes = 64;

// Asks for huge pages in [data, data + bytes) where that is at least 32 MiB. Any thread.
void advise_huge_pages(void* data, int64_t bytes);

}  // namespace aft
