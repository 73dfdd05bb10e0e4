// Scratch memory on cache line boundaries; large pieces are those that tensors lie in, too. No
// LibTorch.
#pragma once
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>

#include "core/system/block_cache.h"

namespace aft::ops::cpu {

template <class T>
class Buffer {
  public:
    Buffer() = default;
    explicit Buffer(int64_t size, bool zero = false) : size_(size) {
        const std::size_t bytes = (static_cast<std::size_t>(size) * sizeof(T) + 63) / 64 * 64;
        void* data = bytes < BlockCache::kSmallest ? nullptr : large_blocks().allocate(bytes);
        if (data == nullptr) data = ::operator new(bytes, std::align_val_t{64});
        data_.reset(static_cast<T*>(data));
        if (zero) std::memset(data_.get(), 0, bytes);
    }
    [[nodiscard]] T* data() { return data_.get(); }
    [[nodiscard]] const T* data() const { return data_.get(); }
    [[nodiscard]] int64_t size() const { return size_; }

  private:
    struct AlignedDelete {
        void operator()(T* p) const {
            if (!large_blocks().free(p)) ::operator delete(p, std::align_val_t{64});
        }
    };
    std::unique_ptr<T, AlignedDelete> data_;
    int64_t size_ = 0;
};

}  // namespace aft::ops::cpu
