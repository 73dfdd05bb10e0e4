// What the CPU backend allocates: for simple, local and conv nothing of T * T elements, for full
// nothing of T * T * d, forward and backward, on all threads. Both ways to memory are replaced here
// and write down the largest_bytes request: posix_memalign, which LibTorch takes its tensors from,
// and operator new, which our scratch buffers come from. Not with the address sanitizer, which has
// its own.
#include <ATen/ATen.h>
#include <c10/core/CPUAllocator.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <new>

#include "tests/model/ops/ops_cases.h"

#ifndef __SANITIZE_ADDRESS__

namespace {

std::atomic<size_t> largest_bytes{0};

void* allocated(size_t bytes, size_t alignment) {
    for (size_t seen = largest_bytes.load(); seen < bytes;)
        if (largest_bytes.compare_exchange_weak(seen, bytes)) break;
    return std::aligned_alloc(alignment, (bytes + alignment) / alignment * alignment);
}
void* allocated_or_throw(size_t bytes, size_t alignment) {
    void* const p = allocated(bytes, alignment);
    if (p == nullptr) throw std::bad_alloc();
    return p;
}

}  // namespace

extern "C" int posix_memalign(void** out, size_t alignment, size_t bytes) noexcept {
    *out = allocated(bytes, alignment);
    return *out == nullptr ? ENOMEM : 0;
}
void* operator new(size_t bytes) {
    return allocated_or_throw(bytes, alignof(std::max_align_t));
}
void* operator new(size_t bytes, std::align_val_t alignment) {
    return allocated_or_throw(bytes, static_cast<size_t>(alignment));
}
void operator delete(void* p) noexcept {
    std::free(p);
}
void operator delete(void* p, size_t) noexcept {
    std::free(p);
}
void operator delete(void* p, std::align_val_t) noexcept {
    std::free(p);
}
void operator delete(void* p, size_t, std::align_val_t) noexcept {
    std::free(p);
}

namespace aft::ops::testing {
namespace {

// LibTorch's own memory: the program's keeps large blocks, which the ways above do not show.
class PlainMemory {
  public:
    PlainMemory() { c10::SetCPUAllocator(c10::GetDefaultCPUAllocator(), kAboveOurs); }
    ~PlainMemory() { c10::SetCPUAllocator(before_, kAboveOurs); }
    PlainMemory(const PlainMemory&) = delete;
    PlainMemory& operator=(const PlainMemory&) = delete;

  private:
    static constexpr uint8_t kAboveOurs = 2;
    c10::Allocator* before_ = c10::GetCPUAllocator();
};

// The largest_bytes single allocation of one forward and backward pass, in bytes.
int64_t largest_of(const Operator& op, OperatorKind kind, const Sample& sample,
                   at::ScalarType type) {
    const PlainMemory plain;
    largest_bytes = 0;
    (void)run(op, kind, sample, type);
    const auto bytes = static_cast<int64_t>(largest_bytes.load());
    EXPECT_GE(bytes, sample.in.v.size(1) * sample.in.v.size(2) * 2) << "the results were not seen";
    return bytes;
}
int64_t largest_allocation(const OpsCase& c, const Operator& op) {
    return largest_of(op, c.kind, make_sample(c), at::kFloat);
}

std::vector<OpsCase> linear_cases(int64_t T) {
    std::vector<OpsCase> out;
    for (const bool causal : {false, true}) {
        const OpsCase c{.causal = causal, .batch = 1, .length = T, .dim = 8, .window = 17};
        for (const OperatorKind kind : {OperatorKind::simple, OperatorKind::local,
                                        OperatorKind::conv1d, OperatorKind::conv2d}) {
            OpsCase one = c;
            one.kind = kind;
            one.factors = kind == OperatorKind::local ? 4 : 0;  // a table w is of T * T itself
            one.grid_width = 50;
            out.push_back(one);
        }
    }
    return out;
}

TEST(OpsMemory, nothing_of_T_times_T) {
    constexpr int64_t T = 3000;
    for (const OpsCase& c : linear_cases(T))
        EXPECT_LT(largest_allocation(c, operator_of(OperatorBackend::cpu)), T * T) << describe(c);
}

// Stored in bfloat16, and with a key that sends the targets before it to the exact path.
TEST(OpsMemory, nothing_of_T_times_T_in_bfloat16_or_exactly) {
    constexpr int64_t T = 3000;
    for (const OpsCase& c : linear_cases(T)) {
        if (c.kind != OperatorKind::local) continue;
        for (const auto type : {at::kFloat, at::kBFloat16})
            for (const bool spike : {false, true}) {
                Sample sample = make_sample(c);
                if (spike) sample.in.k[0][T / 2][3] = 200;
                const int64_t before = exact_blocks();
                EXPECT_LT(largest_of(operator_of(OperatorBackend::cpu), c.kind, sample, type),
                          T * T)
                    << c10::toString(type) << spike << describe(c);
                EXPECT_EQ(exact_blocks() > before, spike && c.causal) << describe(c);
            }
    }
}

TEST(OpsMemory, nothing_of_T_times_T_times_d) {
    constexpr int64_t T = 400, d = 24;
    for (const bool causal : {false, true})
        for (const int64_t factors : {0, 4}) {
            const OpsCase c{.kind = OperatorKind::full,
                            .causal = causal,
                            .batch = 1,
                            .length = T,
                            .dim = d,
                            .factors = factors};
            EXPECT_LT(largest_allocation(c, operator_of(OperatorBackend::cpu)), T * T * d)
                << describe(c);
        }
}

// The measure notices what it is there for.
TEST(OpsMemory, sees_the_table_of_the_reference) {
    const OpsCase c{.kind = OperatorKind::conv1d, .batch = 1, .length = 600, .dim = 8, .window = 5};
    EXPECT_GE(largest_allocation(c, oracle()), 600 * 600);
}

}  // namespace
}  // namespace aft::ops::testing

#endif
