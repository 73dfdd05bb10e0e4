#include "bench/calibrate.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <c10/core/GradMode.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <fstream>
#include <functional>
#include <limits>
#include <string>
#include <thread>

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

double copy_rate(int64_t count) {
    const at::Tensor a = at::ones({count}), b = at::zeros({count});
    const float* const from = a.const_data_ptr<float>();
    float* const to = b.data_ptr<float>();
    const double seconds = least_seconds(5, [&] {
        at::parallel_for(0, count / 1024, 64, [&](int64_t begin, int64_t end) {
            stream(to + begin * 1024, from + begin * 1024, (end - begin) * 1024);
        });
    });
    return 8 * static_cast<double>(count) / seconds;
}

// Seconds all cores were busy since the system started; negative if unknown.
double busy_seconds() {
    std::ifstream in("/proc/stat");
    std::string name;
    double user = 0, nice = 0, system = 0, idle = 0, wait = 0, irq = 0, soft = 0, steal = 0;
    if (!(in >> name >> user >> nice >> system >> idle >> wait >> irq >> soft >> steal)) return -1;
    return (user + nice + system + irq + soft + steal) / static_cast<double>(sysconf(_SC_CLK_TCK));
}

double own_seconds() {
    rusage use{};
    getrusage(RUSAGE_SELF, &use);
    const auto seconds = [](const timeval& t) {
        return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
    };
    return seconds(use.ru_utime) + seconds(use.ru_stime);
}

}  // namespace

Rates calibrate(bool quick) {
    const c10::NoGradGuard no_gradients;
    const int64_t size = quick ? 128 : 1536;
    return {.gemm_fp32 = gemm_rate(at::kFloat, size),
            .gemm_bf16 = gemm_rate(at::kBFloat16, size),
            .copy = copy_rate(quick ? int64_t{1} << 18 : int64_t{1} << 25)};
}

Neighbours::Neighbours() : busy_(busy_seconds()), own_(own_seconds()), wall_(now()) {}

double Neighbours::share() const {
    const double busy = busy_seconds(), wall = now() - wall_;
    if (busy < 0 || busy_ < 0 || wall <= 0) return -1;
    const double others = (busy - busy_) - (own_seconds() - own_);
    return std::clamp(others / (wall * std::thread::hardware_concurrency()), 0.0, 1.0);
}

}  // namespace aft::bench
