// Memory for the packed weights: large pages where the system gives them, since a token reads all
// of it and small ones cost as much to find as to read. Taken piece by piece, given back at once.
// One thread. No LibTorch.
#pragma once
#include <cstdint>

namespace aft::decode {

class Pages {
  public:
    Pages() = default;
    explicit Pages(int64_t bytes);
    Pages(Pages&& other) noexcept;
    Pages& operator=(Pages&& other) noexcept;
    ~Pages();
    // Zeros, on a cache line boundary; there until the pages are gone.
    [[nodiscard]] uint8_t* take(int64_t bytes);

  private:
    uint8_t *begin_ = nullptr, *next_ = nullptr;
    int64_t size_ = 0;
};

// What take() adds to a piece at most.
inline constexpr int64_t kLineBytes = 64;

}  // namespace aft::decode
