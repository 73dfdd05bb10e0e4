// Scratch memory on cache line boundaries, zero at the start. No LibTorch.
#pragma once
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>

namespace aft::ops::cpu {

template <class T>
class Buffer {
  public:
    Buffer() = default;
    explicit Buffer(int64_t size, bool zero = false) : size_(size) {
        const std::size_t bytes = (static_cast<std::size_t>(size) * sizeof(T) + 63) / 64 * 64;
        data_.reset(static_cast<T*>(::operator new (bytes, std::align_val_t{64})));
        if (zero) std::memset(data_.get(), 0, bytes);
    }
    [[nodiscard]] T* data() { return data_.get(); }
    [[nodiscard]] const T* data() const { return data_.get(); }
    [[nodiscard]] int64_t size() const { return size_; }

  private:
    struct AlignedDelete {
        void operator()(T* p) const { ::operator delete (p, std::align_val_t{64}); }
    };
    std::unique_ptr<T, AlignedDelete> data_;
    int64_t size_ = 0;
};

}  // namespace aft::ops::cpu
