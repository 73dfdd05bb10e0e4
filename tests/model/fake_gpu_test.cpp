// The fake GPU refuses what a GPU refuses. In processes of their own: a backend that is
// registered stays.
#include <ATen/ATen.h>

#include <iostream>

#include "model/device.h"
#include "tests/model/cuda_kernels.h"
#include "tests/model/device_name.h"

namespace aft {
namespace {

at::Tensor three_there() {
    fake_gpu().open();
    return at::ones({3}).to(parse_device("fake-gpu"));
}

// 0: computed as on the processor; 1: refused, with the words; 2: wrong.
[[noreturn]] void product_of(const at::Tensor& there, const at::Tensor& other) {
    try {
        const at::Tensor product = at::mm(there.view({1, 3}), other.view({3, 1})).cpu();
        std::exit(at::equal(product, at::full({1, 1}, 3.0F)) ? 0 : 2);
    } catch (const c10::Error& error) {
        std::cerr << error.what_without_backtrace();
        std::exit(1);
    }
}

class FakeGpuTest : public ::testing::Test {
  protected:
    void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

TEST_F(FakeGpuTest, ComputesWhatLivesThere) {
    EXPECT_EXIT(product_of(three_there(), three_there()), ::testing::ExitedWithCode(0), "");
}

TEST_F(FakeGpuTest, MixedDevicesAreRefused) {
    EXPECT_EXIT(product_of(three_there(), at::ones({3})), ::testing::ExitedWithCode(1),
                "on the same device, but aten::mm");
}

TEST_F(FakeGpuTest, ProductsOfIntegersAreRefused) {
    const auto product = [] {
        const at::Tensor whole = three_there().to(at::kLong);
        product_of(whole, whole);
    };
    EXPECT_EXIT(product(), ::testing::ExitedWithCode(1), "CUDA has no product of integers");
}

TEST(CudaKernels, AreThoseOfLibTorch) {
    for (const c10::OperatorName& name : {c10::OperatorName{"aten::mm", ""},
                                          {"aten::add_", "Tensor"},
                                          {"aten::sum", "IntList_out"},
                                          {"aten::_softmax", ""}})
        EXPECT_TRUE(has_cuda_kernel(name)) << name;
    for (const c10::OperatorName& name :
         {c10::OperatorName{"aten::_scaled_dot_product_flash_attention_for_cpu", ""},
          {"aten::mkldnn_linear", ""},
          {"aten::mm_", ""}})
        EXPECT_FALSE(has_cuda_kernel(name)) << name;
}

TEST_F(FakeGpuTest, ItsMemoryIsClosedToTheProcessor) {
    const auto read = [] {
        const volatile float* const there = three_there().const_data_ptr<float>();
        std::exit(static_cast<int>(there[1]) * 0);  // 0 where it can be read
    };
#ifdef __SANITIZE_ADDRESS__  // says so in its own words, and exits
    EXPECT_DEATH(read(), "SEGV");
#else
    EXPECT_EXIT(read(), ::testing::KilledBySignal(SIGSEGV), "");
#endif
}

}  // namespace
}  // namespace aft
