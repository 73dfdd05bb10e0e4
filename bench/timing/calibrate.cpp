#include "bench/timing/calibrate.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <c10/core/GradMode.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>
#include <numeric>
#include <string>
#include <thread>

#include "core/check.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace aft::bench {
namespace {

double now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

double least_seconds(int rounds, const std::function<void()>& work) {
    work();
    double least = std::numeric_limits<double>::infinity();
    for (int i = 0; i < rounds; ++i) {
        const double start = now();
        work();
        least = std::min(least, now() - start);
    }
    return least;
}

double gemm_rate(at::ScalarType type, int64_t size) {
    const at::Tensor a = at::randn({size, size}).to(type), b = at::randn({size, size}).to(type);
    at::Tensor c = at::empty({size, size}, a.options());
    const double n = static_cast<double>(size);
    return 2 * n * n * n / least_seconds(7, [&] { at::mm_out(c, a, b); });
}

// Stores that do not read their line first: bytes moved are bytes read plus bytes written.
void stream(float* to, const float* from, int64_t count) {
#if defined(__SSE2__)
    for (int64_t i = 0; i + 16 <= count; i += 16) {
        for (int64_t j = i; j < i + 16; j += 4) _mm_stream_ps(to + j, _mm_load_ps(from + j));
    }
    _mm_sfence();
#else
    std::memcpy(to, from, static_cast<std::size_t>(count) * sizeof(float));
#endif
}

// Eight independent sums of four numbers: what is timed is the reading, not the adding.
float sum_of(const float* from, int64_t count) {
#if defined(__SSE2__)
    __m128 sums[8];
    for (__m128& sum : sums) sum = _mm_setzero_ps();
    for (int64_t i = 0; i + 32 <= count; i += 32)
        for (int64_t j = 0; j < 8; ++j)
            sums[j] = _mm_add_ps(sums[j], _mm_load_ps(from + i + 4 * j));
    for (int64_t j = 1; j < 8; ++j) sums[0] = _mm_add_ps(sums[0], sums[j]);
    return _mm_cvtss_f32(sums[0]);
#else
    return std::accumulate(from, from + count, 0.0F);
#endif
}

constexpr int64_t kPage = int64_t{1} << 21;  // bytes of a huge page
constexpr int64_t kLine = 1024;              // floats: the grain of sharing among threads

struct FreeMemory {
    void operator()(float* memory) const { std::free(memory); }
};
using Memory = std::unique_ptr<float[], FreeMemory>;

Memory huge_memory(int64_t count) {  // count of floats: a multiple of a page
    const auto bytes = static_cast<std::size_t>(count) * sizeof(float);
    Memory memory(static_cast<float*>(std::aligned_alloc(kPage, bytes)));
    AFT_CHECK(memory != nullptr, "bench: no memory for the {} MiB of the calibration", bytes >> 20);
#if defined(MADV_HUGEPAGE)
    madvise(memory.get(), bytes, MADV_HUGEPAGE);  // a hint: the rate is lower where it is refused
#endif
    std::fill_n(memory.get(), count, 1.0F);
    return memory;
}

}  // namespace

struct Calibrator::Buffers {
    int64_t count = 0;  // floats of each
    int64_t size = 0;   // of the matrices
    Memory from, to;
};

Calibrator::Calibrator(CalibrationSize effort) : buffers_(std::make_unique<Buffers>()) {
    buffers_->count = effort == CalibrationSize::tiny    ? kPage / 4
                      : effort == CalibrationSize::brief ? int64_t{1} << 23
                                                         : int64_t{1} << 25;
    buffers_->size = effort == CalibrationSize::tiny    ? 128
                     : effort == CalibrationSize::brief ? 768
                                                        : 1536;
    buffers_->from = huge_memory(buffers_->count);
    buffers_->to = huge_memory(buffers_->count);
}

Calibrator::~Calibrator() = default;

Rates Calibrator::rates() const {
    const c10::NoGradGuard no_gradients;
    const auto& [count, size, from, to] = *buffers_;
    const double seconds = least_seconds(10, [&, count = count, from = from.get(), to = to.get()] {
        at::parallel_for(0, count / kLine, 64, [&](int64_t begin, int64_t end) {
            stream(to + begin * kLine, from + begin * kLine, (end - begin) * kLine);
        });
    });
    const int64_t cache = last_level_cache();
    return {.gemm_fp32 = gemm_rate(at::kFloat, size),
            .gemm_bf16 = gemm_rate(at::kBFloat16, size),
            .copy = 8 * static_cast<double>(count) / seconds,
            .cache = read_rate((cache > 0 ? cache : int64_t{16} << 20) / 2)};
}

double Calibrator::read_rate(int64_t bytes) const {
    const float* const from = buffers_->from.get();
    const int64_t lines = std::clamp<int64_t>(bytes / 4 / kLine, 1, buffers_->count / kLine);
    std::atomic<float> sink = 0;  // keeps the sums from being left out
    const double seconds = least_seconds(30, [&] {
        at::parallel_for(0, lines, 64, [&](int64_t begin, int64_t end) {
            sink = sum_of(from + begin * kLine, (end - begin) * kLine);
        });
    });
    return 4 * static_cast<double>(lines * kLine) / seconds;
}

int64_t last_level_cache() {
    const auto bytes = static_cast<int64_t>(sysconf(_SC_LEVEL3_CACHE_SIZE));
    return bytes > 0 ? bytes : std::max<int64_t>(sysconf(_SC_LEVEL2_CACHE_SIZE), 0);
}

nlohmann::json rates_json(const Rates& rates) {
    return {{"gemm_fp32_gflops", rates.gemm_fp32 * 1e-9},
            {"gemm_bf16_gflops", rates.gemm_bf16 * 1e-9},
            {"copy_gbs", rates.copy * 1e-9},
            {"cache_read_gbs", rates.cache * 1e-9}};
}

}  // namespace aft::bench
