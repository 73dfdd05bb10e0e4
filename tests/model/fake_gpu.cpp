// A fake GPU, for tests on a machine without one: a LibTorch device ("privateuseone")
// whose memory the processor may not touch. AFTERIMAGE_DEVICE=fake-gpu runs the tests of models and
// sessions on it. What it finds is what a GPU would refuse: an operation that mixes devices, and
// code that reads a device's memory through its pointer (the process dies of SIGSEGV there), and an
// operation, or a product of integers, for which LibTorch has no CUDA kernel. What it cannot find:
// the numerics of those kernels, since every operation is computed on the processor.
#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <ATen/EmptyTensor.h>
#include <ATen/detail/PrivateUse1HooksInterface.h>
#include <ATen/native/CPUFallback.h>
#include <ATen/ops/_reshape_alias_native.h>
#include <ATen/ops/as_strided_native.h>
#include <ATen/ops/set_native.h>
#include <ATen/ops/unfold_native.h>
#include <ATen/ops/view_native.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <sys/mman.h>
#include <torch/library.h>
#include <unistd.h>

#include <map>
#include <mutex>
#include <regex>

#include "model/device.h"
#include "tests/model/cuda_kernels.h"
#include "tests/model/device_name.h"

namespace aft {
namespace {

constexpr auto kDevice = at::kPrivateUse1;
constexpr c10::DispatchKeySet kKeys(c10::DispatchKey::PrivateUse1);

// Whole pages, closed to the processor except while copy_from below moves bytes.
class ClosedMemory final : public c10::Allocator {
  public:
    at::DataPtr allocate(size_t bytes) override {
        const at::Device device(kDevice, 0);
        if (bytes == 0) return {nullptr, nullptr, &ClosedMemory::release, device};
        const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
        const size_t whole = (bytes + page - 1) / page * page;
        void* const at = mmap(nullptr, whole, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        TORCH_CHECK(at != MAP_FAILED, "the fake GPU is out of memory");
        const std::lock_guard lock(mutex_);
        sizes_[at] = whole;
        return {at, at, &ClosedMemory::release, device};
    }
    at::DeleterFnPtr raw_deleter() const override { return &ClosedMemory::release; }
    void copy_data(void*, const void*, size_t) const override {
        TORCH_CHECK(false, "the fake GPU copies tensors only");
    }

    // Opens the storages of these tensors while `work` runs; one at a time.
    template <class Work>
    void open(const at::Tensor& a, const at::Tensor& b, const Work& work) {
        const std::lock_guard lock(mutex_);
        protect(a, PROT_READ | PROT_WRITE);
        protect(b, PROT_READ | PROT_WRITE);
        work();
        protect(a, PROT_NONE);
        protect(b, PROT_NONE);
    }

  private:
    static void release(void* at) {
        if (at == nullptr) return;
        ClosedMemory& self = get();
        const std::lock_guard lock(self.mutex_);
        munmap(at, self.sizes_.at(at));
        self.sizes_.erase(at);
    }
    void protect(const at::Tensor& x, int how) {
        if (x.device().type() != kDevice) return;
        void* const at = x.storage().mutable_data();
        if (at != nullptr) TORCH_CHECK(mprotect(at, sizes_.at(at), how) == 0);
    }

    std::recursive_mutex mutex_;
    std::map<void*, size_t> sizes_;

  public:
    static ClosedMemory& get() {
        static ClosedMemory memory;
        return memory;
    }
};

// The same bytes as a tensor of the processor.
at::Tensor seen(const at::Tensor& x) {
    if (x.device().type() != kDevice) return x.detach();
    return at::from_blob(const_cast<void*>(x.const_data_ptr()), x.sizes(), x.strides(),
                         x.options().device(at::kCPU).requires_grad(false));
}
at::Tensor copy_from(const at::Tensor& from, const at::Tensor& to, bool) {
    if (to.numel() == 0) return to;
    ClosedMemory::get().open(from, to, [&] { seen(to).copy_(seen(from)); });
    return to;
}
at::Tensor copy_and_resize(const at::Tensor& from, const at::Tensor& to) {
    if (to.sizes() != from.sizes()) to.resize_(from.sizes());  // a view keeps its strides
    return copy_from(from, to, false);
}
const at::Tensor& resize(const at::Tensor& x, c10::IntArrayRef size,
                         std::optional<at::MemoryFormat>) {
    if (x.sizes() == size) return x;
    auto* const self = x.unsafeGetTensorImpl();
    self->set_sizes_contiguous(size);
    const size_t bytes = x.nbytes() + static_cast<size_t>(x.storage_offset()) * x.itemsize();
    if (bytes > x.storage().nbytes()) {
        TORCH_CHECK(x.storage().nbytes() == 0, "the fake GPU enlarges nothing");
        x.storage().set_data_ptr_noswap(ClosedMemory::get().allocate(bytes));
        x.storage().set_nbytes(bytes);
    }
    return x;
}
at::Scalar scalar(const at::Tensor& x) {
    return x.to(at::kCPU).item();
}

// Everything else: computed on the processor when every tensor of it lives here and CUDA has it.
void compute(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
    TORCH_CHECK(has_cuda_kernel(op.operator_name()), "CUDA has no kernel for ", op.operator_name());
    static const std::regex kProducts("aten::(addmm|addmv|addbmm|baddbmm|bmm|mm|mv|dot)_?");
    const bool is_product = std::regex_match(op.schema().name(), kProducts);
    const auto refuse = [&op, is_product](const at::Tensor& x) {
        if (!x.defined()) return;
        TORCH_CHECK(!is_product || !at::isIntegralType(x.scalar_type(), true),
                    "CUDA has no product of integers: ", op.schema().name());
        if (x.device().type() == kDevice) return;
        TORCH_CHECK(x.dim() == 0, "expected all tensors to be on the same device, but ",
                    op.schema().name(), " got one on ", x.device());
    };
    const size_t first = stack->size() - op.schema().arguments().size();
    for (size_t i = first; i < stack->size(); ++i) {
        const c10::IValue& value = (*stack)[i];
        if (value.isTensor()) refuse(value.toTensor());
        if (value.isTensorList())
            for (const at::Tensor& x : value.toTensorVector()) refuse(x);
        if (value.isOptionalTensorList())
            for (const auto& x : value.toOptionalTensorVector())
                if (x) refuse(*x);
    }
    at::native::cpu_fallback(op, stack, /*error_on_views=*/true);
}

// One device, one stream: what is recorded has happened, who waits need not. For autograd.
struct FakeDeviceGuard final : c10::impl::NoOpDeviceGuardImpl<kDevice> {
    static c10::Stream stream() {
        return c10::Stream(c10::Stream::DEFAULT, at::Device(kDevice, 0));
    }
    at::Device exchangeDevice(at::Device) const override { return {kDevice, 0}; }
    at::Device getDevice() const override { return {kDevice, 0}; }
    c10::Stream getStream(at::Device) const noexcept override { return stream(); }
    c10::Stream getDefaultStream(at::Device) const override { return stream(); }
    c10::Stream getNewStream(at::Device, int) const override { return stream(); }
    c10::Stream exchangeStream(c10::Stream) const noexcept override { return stream(); }
    void record(void**, const c10::Stream&, c10::DeviceIndex, c10::EventFlag) const override {}
    void block(void*, const c10::Stream&) const override {}
    bool queryEvent(void*) const override { return true; }
};

struct Hooks final : at::PrivateUse1HooksInterface {
    bool isBuilt() const override { return true; }
    bool isAvailable() const override { return true; }
    bool hasPrimaryContext(c10::DeviceIndex) const override { return true; }
    const at::Generator& getDefaultGenerator(c10::DeviceIndex) const override {
        return at::detail::getDefaultCPUGenerator();
    }
    at::Generator getNewGenerator(c10::DeviceIndex) const override {
        return at::detail::createCPUGenerator();
    }
};

void register_operations() {
    static torch::Library aten(torch::Library::IMPL, "aten", c10::DispatchKey::PrivateUse1,
                               __FILE__, __LINE__);
    using Type = std::optional<at::ScalarType>;
    using Layout = std::optional<at::Layout>;
    using Place = std::optional<at::Device>;
    using Flag = std::optional<bool>;
    using Format = std::optional<at::MemoryFormat>;
    using Sizes = c10::IntArrayRef;
    aten.impl("empty.memory_format", [](Sizes size, Type type, Layout, Place, Flag, Format format) {
        const at::ScalarType scalar_type = c10::dtype_or_default(type);
        return at::Tensor(
            at::detail::empty_generic(size, &ClosedMemory::get(), kKeys, scalar_type, format));
    });
    aten.impl("empty_strided", [](Sizes size, Sizes stride, Type type, Layout, Place, Flag) {
        const at::ScalarType scalar_type = c10::dtype_or_default(type);
        return at::Tensor(at::detail::empty_strided_generic(size, stride, &ClosedMemory::get(),
                                                            kKeys, scalar_type));
    });
    aten.impl("_copy_from", &copy_from);
    aten.impl("_copy_from_and_resize", &copy_and_resize);
    aten.impl("_local_scalar_dense", &scalar);
    aten.impl("resize_", &resize);
    aten.impl("as_strided", &at::native::as_strided_tensorimpl);
    aten.impl("view", &at::native::view);
    aten.impl("_reshape_alias", &at::native::_reshape_alias);
    aten.impl("unfold", &at::native::unfold);
    aten.impl("set_.source_Storage_storage_offset", &at::native::set_storage_cpu_);
    aten.impl("set_.source_Tensor", &at::native::set_tensor_);
    static torch::Library all(torch::Library::IMPL, "_", c10::DispatchKey::PrivateUse1, __FILE__,
                              __LINE__);
    all.fallback(torch::CppFunction::makeFromBoxedFunction<&compute>());
}

void open_fake_gpu() {
    if (c10::impl::hasDeviceGuardImpl(kDevice)) return;
    static const FakeDeviceGuard guard;
    static Hooks hooks;
    c10::impl::registerDeviceGuard(kDevice, &guard);
    c10::register_privateuse1_backend("fake_gpu");
    c10::SetAllocator(kDevice, &ClosedMemory::get());
    at::RegisterPrivateUse1HooksInterface(&hooks);
    register_operations();
    add_device("fake-gpu", {kDevice, 0});
}

[[maybe_unused]] const bool kOffered = [] {
    fake_gpu().open = &open_fake_gpu;
    return true;
}();

}  // namespace
}  // namespace aft
