#include "model/tensor_memory.h"

#include <c10/core/Allocator.h>
#include <c10/core/CPUAllocator.h>
#include <c10/core/impl/alloc_cpu.h>

#include "core/system/block_cache.h"

namespace aft {

namespace {

// Reported to profilers, as by LibTorch's own allocator: it does nothing where none runs.
void free_tensor(void* data) {
    c10::profiledCPUMemoryReporter().Delete(data);
    if (data != nullptr && !large_blocks().free(data)) c10::free_cpu(data);
}

class TensorAllocator final : public c10::Allocator {
  public:
    c10::DataPtr allocate(size_t bytes) override {
        void* data = bytes < BlockCache::kSmallest ? nullptr : large_blocks().allocate(bytes);
        if (data == nullptr) data = c10::alloc_cpu(bytes);  // says it where there is no memory
        c10::profiledCPUMemoryReporter().New(data, bytes);
        return {data, data, &free_tensor, c10::Device(c10::DeviceType::CPU)};
    }
    [[nodiscard]] c10::DeleterFnPtr raw_deleter() const override { return &free_tensor; }
    void copy_data(void* to, const void* from, size_t bytes) const override {
        default_copy_data(to, from, bytes);
    }
};

}  // namespace

void keep_tensor_memory() {
    constexpr uint8_t kAboveDefault = 1;
    static TensorAllocator allocator;
    c10::SetCPUAllocator(&allocator, kAboveDefault);
}

}  // namespace aft
